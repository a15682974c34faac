import type { ScreenFacts } from '../../src/core/profile/profile.ts'
import type { Screen } from '../../src/core/screen/terminal.ts'
import type { Rig } from './rig.ts'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import { ptyHost } from '../../src/terminals/pty/pty-host.ts'
import { tmuxHost } from '../../src/terminals/tmux/tmux-host.ts'
import { folder, printScreen } from '../chat/golden-screens.ts'
import { modelServer } from './model-server.ts'
import { normaliser } from './normalise.ts'
import { scenes } from './scenes.ts'
import { screenRig } from './screen-rig.ts'
import { goThrough } from './session.ts'

/** Takes out what differs from run to run, letter for letter, so that frames stay whole. */
function plain(text: string, root: string): string {
  return text
    .replaceAll(root.slice(-6), 'aBcDeF')
    .replaceAll(/127\.0\.0\.1:\d+/g, (address) => `127.0.0.1:${'0'.repeat(address.length - 10)}`)
    .replaceAll(/(?<![\d.])v?\d+\.\d+\.\d+(?![\d.])/g, (version) => version.replaceAll(/\d/g, '0'))
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '00000000-0000-4000-8000-000000000000')
    .replaceAll(/\b\d?\d:\d\d\b/g, (time) => time.replaceAll(/\d/g, '0'))
}

/** The CLI's own record of the session; lines that hold its vendor's prompts are long, and tell nothing here. */
async function journalled({ journal }: ScreenFacts, place: Rig): Promise<string | undefined> {
  if (!journal) return undefined
  const folder = journal.folder({ home: place.env.HOME!, cwd: place.cwd, env: place.env })
  const files = (await readdir(folder, { recursive: true })).filter((file) => journal.file.test(file))
  if (files.length !== 1) throw new Error(`${files.length} journals in ${folder}`)
  const lines = (await readFile(join(folder, files[0]!), 'utf8')).split('\n')
  return normaliser(place.root)(lines.filter((line) => line.length < 6_000).join('\n'))
}

// Usage: node test/real/record-screens.ts <cli> [--pty] [80x24 …]; without --pty in tmux, which some draw otherwise in.
const [cli = '', ...words] = process.argv.slice(2)
const sizes = words.filter((word) => word !== '--pty')
const open = words.includes('--pty') ? ptyHost : tmuxHost
const facts = profileNamed(cli)?.screen
if (!facts) throw new Error(`${cli} has no screen`)
await mkdir(join(folder, cli), { recursive: true })
await mkdir(join(folder, '..', 'journals'), { recursive: true })
for (const size of sizes.length > 0 ? sizes : ['80x24', '120x40', '200x50']) {
  const [cols, rows] = size.split('x').map(Number) as [number, number]
  let cwd = ''
  const server = await modelServer(scenes(cli, () => cwd))
  await using place = await screenRig(cli, server.url)
  cwd = place.cwd
  const host = open({
    folder: join(place.root, 'terminals'),
    env: place.env,
    clock: realClock,
    socket: `termaite-record-${process.pid}`,
  })
  const thread = facts.names ? { thread: crypto.randomUUID() } : {}
  const terminal = await host.open(facts.command({ leash: 'ask', ...thread }), {
    cwd,
    env: { ...facts.env },
    size: { cols, rows },
  })
  const keep = async (scene: string, seen?: Screen) => {
    const screen = seen ?? (await terminal.screen())
    const [title, ...rows] = [screen.title ?? '', ...screen.rows].map((row) => plain(row, place.root))
    const text = printScreen({ ...screen, title: title!, rows })
    await writeFile(join(folder, cli, `${scene}-${size}.txt`), text)
    process.stdout.write(`${cli} ${scene} ${size}\n`)
  }
  try {
    await goThrough({ facts, terminal, keep })
    const journal = await journalled(facts, place)
    if (journal !== undefined) await writeFile(join(folder, '..', 'journals', `${cli}.jsonl`), journal)
  } finally {
    await terminal.close()
    await host.close()
    await server.close()
  }
}
