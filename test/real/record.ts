import type { Profile } from '../../src/core/screen/profile.ts'
import type { Rig } from './rig.ts'
import type { Scenario } from './scenarios.ts'
import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { profileNamed } from '../../src/profiles/all.ts'
import { modelServer } from './model-server.ts'
import { normaliser } from './normalise.ts'
import { rig } from './rig.ts'
import { scenariosOf } from './scenarios.ts'

type Ran = { args: string; code: number | null; out: string; err: string }

const folder = join(import.meta.dirname, '..', 'fixtures', 'recorded')

async function run(args: string, prompt: string, { cwd, env }: Rig): Promise<Ran> {
  const child = spawn('bash', ['-c', args], { cwd, env })
  // A CLI that gives up early does not read its prompt.
  child.stdin.on('error', () => {})
  child.stdin.end(prompt)
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { args, code: await code, out, err }
}

function threadIn(profile: Profile, { out, err, code }: Ran): string {
  const dialect = profile.dialect!()
  const steps = out
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => dialect.line(line))
  const last = dialect.end({ out, err, code: code ?? 1, now: Date.now() })
  const thread = [...steps, ...last].findLast((step) => step.type === 'thread')
  if (thread?.type !== 'thread') throw new Error(`${profile.name} named no thread`)
  return thread.key
}

async function record(profile: Profile, { leash, script, env, thread }: Scenario): Promise<Ran> {
  const server = await modelServer(script)
  await using place = await rig(profile.name, server.url)
  const seat = { ...place, env: { ...profile.env, ...place.env, ...env } }
  await writeFile(join(place.cwd, 'a.txt'), 'hi\n')
  let resume: string | undefined
  if (thread === 'lost') resume = '0b0e7a9c-1111-4222-8333-444455556666'
  if (thread === 'second') resume = threadIn(profile, await run(profile.command({ leash }), 'Say hello.\n', seat))
  const ran = await run(profile.command({ leash, ...(resume ? { resume } : {}) }), 'Say hello.\n', seat)
  await server.close()
  const plain = normaliser(place.root)
  return { args: plain(ran.args), code: ran.code, out: plain(ran.out), err: plain(ran.err) }
}

// Usage: node test/real/record.ts <cli> [case…]
const [cli = '', ...only] = process.argv.slice(2)
const profile = profileNamed(cli)
if (!profile) throw new Error(`no profile is named ${cli}`)
await mkdir(join(folder, cli), { recursive: true })
for (const [name, scenario] of Object.entries(scenariosOf(cli))) {
  if (only.length > 0 && !only.includes(name)) continue
  const began = Date.now()
  const ran = await record(profile, scenario)
  await writeFile(join(folder, cli, `${name}.json`), JSON.stringify(ran, null, 2) + '\n')
  process.stdout.write(`${cli} ${name}: exit ${ran.code}, ${Date.now() - began} ms\n`)
}
