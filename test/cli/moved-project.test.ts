import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

function spoken(t: ConstructorParameters<typeof Machine>[0]) {
  const machine = new Machine(t)
  machine.settings({ agents: [{ name: 'amber', command: 'cat', contextWindowTokens: 100_000 }] })
  const at = (cwd: string, ...args: string[]) => machine.run(args, { cwd })
  return { machine, at, folder: (name: string) => join(machine.folder, name) }
}

/** The document of the only project. */
const docOf = ({ home }: Machine) => {
  const [slug, ...more] = readdirSync(join(home, 'projects'))
  assert.deepEqual(more, [])
  return join(home, 'projects', slug!, 'project.json')
}

/** What a run wrote, without names that differ from run to run. */
const shown = ({ code, out, err }: Awaited<ReturnType<Machine['run']>>) => ({
  code,
  out: out.replaceAll(/\b0[0-9a-z]{7,25}\b */g, '<id>').replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '<time>'),
  err,
})

test('a project that was renamed keeps its conversation, and sessions says so', options, async (t) => {
  const { machine, at, folder } = spoken(t)
  await at(machine.project, '-p', 'remember the blue bird')
  const moved = folder('another name')
  renameSync(machine.project, moved)
  golden(t, shown(await at(moved, 'sessions')), { [machine.folder]: '<folder>' })
  const next = await at(moved, '-p', 'and now?')
  assert.match(next.out, /the blue bird[^]*and now\?/)
  golden(t, next.err.replace(/^—.*\n/m, ''), { [machine.folder]: '<folder>' })
})

test('a turn in the new place of a project goes on with its conversation at once', options, async (t) => {
  const { machine, at, folder } = spoken(t)
  await at(machine.project, '-p', 'remember the blue bird')
  const moved = folder('moved')
  renameSync(machine.project, moved)
  const next = await at(moved, '-p', 'and now?')
  assert.match(next.out, /the blue bird[^]*and now\?/)
  golden(t, next.err.replace(/^—.*\n/m, ''), { [machine.folder]: '<folder>' })
})

test(
  'a copy of a project that is gone is asked about, once its person says so it has the conversation, and nothing that was allowed',
  options,
  async (t) => {
    const { machine, at, folder } = spoken(t)
    await at(machine.project, '-p', 'remember the blue bird')
    const doc = docOf(machine)
    const kept = JSON.parse(readFileSync(doc, 'utf8'))
    writeFileSync(doc, JSON.stringify({ ...kept, rules: ['Bash(rm:*)'], allAgreed: true }))
    const copy = folder('elsewhere/project')
    mkdirSync(folder('elsewhere'))
    cpSync(machine.project, copy, { recursive: true })
    assert.deepEqual(
      shown(await at(copy, 'sessions')).err.includes('sessions move'),
      false,
      'the old folder is still there',
    )
    rmSync(machine.project, { recursive: true })
    golden(t, shown(await at(copy, 'sessions')), { [machine.folder]: '<folder>' })
    golden(t, shown(await at(copy, 'sessions', 'move', machine.project)), { [machine.folder]: '<folder>' })
    golden(t, shown(await at(copy, 'sessions', 'move', machine.project)), { [machine.folder]: '<folder>' })
    const { path, rules, allAgreed } = JSON.parse(readFileSync(docOf(machine), 'utf8'))
    assert.deepEqual({ path, rules, allAgreed }, { path: copy, rules: undefined, allAgreed: undefined })
    assert.match((await at(copy, '-p', 'and now?')).out, /the blue bird[^]*and now\?/)
  },
)

test(
  'every command that looks back finds the conversation of a project that was moved just now',
  options,
  async (t) => {
    const { machine, at, folder } = spoken(t)
    await at(machine.project, '-p', 'remember the blue bird', '--session', 'plan')
    let place = machine.project
    const commands = [
      ['sessions', 'search', 'blue'],
      ['sessions', 'export', 'plan'],
      ['sessions', 'resume', 'plan'],
      ['diff'],
      ['usage'],
      ['good'],
      ['-c', '-p', 'and now?'],
    ]
    const seen: unknown[] = []
    let answer = ''
    for (const [number, args] of commands.entries()) {
      const next = folder(`place ${number}`)
      renameSync(place, next)
      place = next
      const { code, out, err } = await at(place, ...args)
      const told = err.replace(/^—.*\n/m, '').replaceAll(/\b0[0-9a-z]{25}\b/g, '<id>')
      seen.push([args.join(' '), code, told])
      answer = out
    }
    assert.match(answer, /the blue bird[^]*and now\?/)
    golden(t, seen, { [machine.folder]: '<folder>' })
    renameSync(place, folder('last'))
    golden(t, (await at(machine.folder, '-c', '-p', 'x')).err, { [machine.folder]: '<folder>' })
  },
)
