import type { Profile, Step } from '../../src/core/profile/profile.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type { Rig } from './rig.ts'
import type { Scenario } from './scenarios.ts'
import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { profileNamed } from '../../src/profiles/all.ts'
import { modelServer } from './model-server.ts'
import { normaliser } from './normalise.ts'
import { rig } from './rig.ts'
import { scenariosOf } from './scenarios.ts'

/** `picks`: what was answered to its questions, in turn. */
type Ran = { args: string; leash: Leash; picks?: string[][]; code: number | null; out: string; err: string }

const folder = join(import.meta.dirname, '..', 'fixtures', 'recorded')

/** Runs it as the pipe agent does: the dialect says what goes to its stdin, and when that is closed. */
async function run(profile: Profile, leash: Leash, { cwd, env }: Rig, picks?: string[][], resume?: string) {
  const seat = { leash, ...(resume === undefined ? {} : { resume }) }
  const args = profile.command({ ...seat, attended: picks !== undefined })
  const dialect = profile.dialect!(seat)
  const answers = [...(picks ?? [])]
  const child = spawn('bash', ['-c', args], { cwd, env })
  // A CLI that gives up early does not read its prompt.
  child.stdin.on('error', () => {})
  child.stdin.write(dialect.open('Say hello.\n'))
  if (!dialect.asks) child.stdin.end()
  const steps: Step[] = []
  let out = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    out += `${line}\n`
    for (const step of line.trim() === '' ? [] : dialect.line(line)) {
      steps.push(step)
      if (step.type === 'send') child.stdin.write(step.text)
      if (step.type === 'ask') child.stdin.write(step.reply(answers.shift()))
    }
    if (dialect.asks && dialect.over?.()) child.stdin.end()
  })
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  const err = await text(child.stderr)
  const ran: Ran = { args, leash, ...(picks ? { picks } : {}), code: await code, out, err }
  const last = dialect.end({ out, err, code: ran.code ?? 1, now: Date.now() })
  const thread = [...steps, ...last].findLast((step) => step.type === 'thread')
  return { ran, thread: thread?.type === 'thread' ? thread.key : undefined }
}

async function record(profile: Profile, { leash, script, env, thread, picks }: Scenario): Promise<Ran> {
  const server = await modelServer(script)
  await using place = await rig(profile.name, server.url)
  const seat = { ...place, env: { ...profile.env, ...place.env, ...env } }
  await writeFile(join(place.cwd, 'a.txt'), 'hi\n')
  let resume: string | undefined
  if (thread === 'lost') resume = '0b0e7a9c-1111-4222-8333-444455556666'
  if (thread === 'second') resume = (await run(profile, leash, seat, picks)).thread
  const { ran } = await run(profile, leash, seat, picks, resume)
  await server.close()
  const plain = normaliser(place.root)
  return { ...ran, args: plain(ran.args), out: plain(ran.out), err: plain(ran.err) }
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
