import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { ownerMark } from '../../src/base/process/owner.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { goldenOf } from '../golden.ts'
import { sized } from '../full.ts'
import { until } from '../until.ts'
import { ProgramWindow } from '../screen/program-window.ts'
import { ended, Machine } from './program.ts'

const golden = goldenOf(import.meta.filename)

type Listed = { id: string; turns: number; first: string; cli?: string }

const listed = async (machine: Machine) => JSON.parse((await machine.call(['sessions', '--json'])).out) as Listed[]

/** The files of our home that hold a word, in their raw bytes. */
function holding(machine: Machine, word: string): string[] {
  return readdirSync(machine.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(word))
    .map((path) => path.slice(machine.home.length + 1).replace(machine.slug, '<project>'))
    .sort()
}

/** Leaves the conversation of a worker, as a turn of the coordinator in that session would have. Returns its folder. */
function leaveWorker(machine: Machine, session: string, words: string): string {
  const folder = join(machine.home, 'crew', `${machine.slug}.${session}`)
  mkdirSync(folder, { recursive: true })
  const entry = { type: 'prompt', text: words, id: 'a', at: 1, by: 'user', session, turn: 't.1' }
  writeFileSync(join(folder, '1.jsonl'), `${JSON.stringify(entry)}\n`)
  return folder
}

/**
 * Two sessions: one whose prompt, long answer and name hold the word pelican, and one without it, with a turn before it and
 * one behind it. Returns their ids.
 */
async function pelicans(machine: Machine): Promise<{ pelican: string; other: string }> {
  const long = 'cat >/dev/null; yes pelican 2>/dev/null | head -c 100000'
  machine.agents({ alpha: 'cat >/dev/null; echo heron', beta: long }, { metaInstruction: false, thinking: 'off' })
  await machine.call(['-p', 'find the heron', '-a', 'alpha'])
  const [other] = await listed(machine)
  await machine.call(['-p', 'find the pelican', '-a', 'beta', '--session', 'pelican colony'])
  await machine.call(['-p', 'find the heron again', '-a', 'alpha'])
  const [pelican] = (await listed(machine)).filter(({ id }) => id !== other!.id)
  return { pelican: pelican!.id, other: other!.id }
}

test('sessions delete asks first, and then the words of the session are nowhere left', async (t) => {
  const machine = new Machine(t)
  const { pelican, other } = await pelicans(machine)
  const [workers, others] = [pelican, other].map((id) => leaveWorker(machine, id, id === pelican ? 'pelican' : 'heron'))
  const project = ['history.jsonl', 'output/<hash>', 'project.json', 'snapshots/turns/<turn>.json']
  const places = holding(machine, 'pelican').map((path) =>
    path.replace(/[0-9a-f]{64}/, '<hash>').replace(/turns\/\w+/, 'turns/<turn>'),
  )
  assert.deepEqual(places, [
    `crew/<project>.${pelican}/1.jsonl`,
    ...project.map((name) => `projects/<project>/${name}`),
    'settings.json',
    'termaite.db',
  ])
  const unasked = await machine.call(['sessions', 'delete', pelican])
  golden(t, [unasked.code, unasked.err])
  const nameless = await machine.call(['sessions', 'delete', '--yes'])
  golden(t, [nameless.code, nameless.err])
  const before = (await machine.call(['sessions', 'export', other])).out
  const done = await machine.run(['sessions', 'delete', pelican.slice(0, 22), '--yes'])
  golden(t, [done.code, done.out, done.err])
  assert.deepEqual(holding(machine, 'pelican'), ['settings.json'])
  assert.deepEqual([existsSync(workers!), existsSync(others!)], [false, true])
  assert.deepEqual(
    (await listed(machine)).map(({ id, turns }) => [id, turns]),
    [[other, 2]],
  )
  assert.equal((await machine.call(['sessions', 'export', other])).out, before)
  assert.equal((await machine.call(['sessions', 'search', 'pelican'])).code, 1)
  assert.equal((await machine.call(['sessions', 'search', 'heron'])).code, 0)
  assert.equal((await machine.call(['-p', 'the heron once more', '-a', 'alpha'])).out, 'heron\n')
  assert.deepEqual(
    (await listed(machine)).map(({ id, turns }) => [id, turns]),
    [[other, 3]],
  )
})

test('the last session of a project can be deleted, and the next request begins a new one', async (t) => {
  const machine = new Machine(t)
  machine.agents({ alpha: 'cat >/dev/null; echo pelican' }, { metaInstruction: false, thinking: 'off' })
  await machine.call(['-p', 'one'])
  const [first] = await listed(machine)
  assert.equal((await machine.call(['sessions', 'delete', first!.id, '--yes'])).code, 0)
  assert.deepEqual(await listed(machine), [])
  await machine.call(['-p', 'two'])
  const [second] = await listed(machine)
  assert.deepEqual([second!.turns, second!.first], [1, 'two'])
  assert.notEqual(second!.id, first!.id)
})

test('a session that a fork begins with, or that is at work or open elsewhere, is kept', async (t) => {
  const machine = new Machine(t)
  machine.agents({ alpha: 'cat >/dev/null; echo heard' }, { metaInstruction: false, thinking: 'off' })
  await machine.call(['-p', 'first'])
  const [first] = await listed(machine)
  await machine.call(['-p', 'second', '--fork'])
  const fork = (await listed(machine)).find(({ id }) => id !== first!.id)!
  const varying = { [first!.id]: '<first>', [fork.id]: '<fork>' }
  const forked = await machine.call(['sessions', 'delete', first!.id, '--yes'])
  golden(t, [forked.code, forked.err], varying)
  const window = new ProgramWindow(machine, { args: [] })
  t.after(() => window.end())
  await window.shows('Ask anything')
  const notes = () => readdirSync(join(machine.home, 'run')).filter((name) => name.endsWith('.json'))
  const [note] = await until(() => existsSync(join(machine.home, 'run')) && notes().length > 0 && notes())
  const { sessions } = JSON.parse(readFileSync(join(machine.home, 'run', note!), 'utf8'))
  assert.deepEqual(sessions, [fork.id])
  const open = await machine.call(['sessions', 'delete', fork.id, '--yes'])
  golden(t, [open.code, open.err], { ...varying, [`process ${window.pty.pid}`]: 'process <pid>' })
  window.pty.kill('SIGKILL')
  await window.exited
  // The process of the test is alive, so the turn counts as running.
  machine.leavePrompt('third', ownerMark())
  const working = await machine.call(['sessions', 'delete', first!.id, '--yes'])
  golden(t, [working.code, working.err], varying)
  assert.equal((await listed(machine)).length, 2)
})

test('an imported session is deleted with its copy, also once it was continued', async (t) => {
  const machine = new Machine(t)
  machine.agents({ alpha: 'cat >/dev/null; echo heard' }, { metaInstruction: false, thinking: 'off' })
  const uuid = '00000000-0000-4000-8000-000000000001'
  const journal = join(
    machine.folder,
    'home/.claude/projects',
    machine.project.replaceAll(/[^a-zA-Z0-9]/g, '-'),
    `${uuid}.jsonl`,
  )
  const text = readFileSync(join(import.meta.dirname, '../fixtures/journals/claude.jsonl'), 'utf8')
  mkdirSync(dirname(journal), { recursive: true })
  writeFileSync(journal, text.replaceAll('/rig/project', machine.project))
  for (const continued of [false, true]) {
    assert.equal((await machine.call(['import', 'claude', '--yes'])).code, 0)
    const [imported] = await listed(machine)
    assert.equal(imported!.cli, 'claude')
    const words = imported!.first
    assert.notDeepEqual(holding(machine, words), [])
    if (continued) await machine.call(['sessions', 'resume', imported!.id])
    const [ours] = await listed(machine)
    assert.equal(ours!.cli, continued ? undefined : 'claude')
    const gone = await machine.call(['sessions', 'delete', ours!.id, '--yes'])
    assert.deepEqual([gone.code, gone.err], [0, ''])
    assert.deepEqual(holding(machine, words), [])
    assert.deepEqual(await listed(machine), [])
  }
})

/** Brings a home back to a copy of it. */
function restored(machine: Machine, copy: string): void {
  rmSync(machine.home, { recursive: true })
  cpSync(copy, machine.home, { recursive: true })
}

/** A copy of a home with two sessions. */
async function copied(t: TestContext) {
  const machine = new Machine(t)
  const ids = await pelicans(machine)
  const copy = join(machine.folder, 'copy')
  cpSync(machine.home, copy, { recursive: true })
  return { machine, ...ids, copy }
}

const lives = sized(5, 25)

test(`killed with -9 in the middle, ${lives} times: the session is whole, or gone at the next start`, async (t) => {
  const { machine, pelican, other, copy } = await copied(t)
  const whole = (await machine.call(['sessions', 'export', pelican])).out
  const begun: boolean[] = []
  for (let life = 0; life < lives; life++) {
    restored(machine, copy)
    const child = machine.start(['sessions', 'delete', pelican, '--yes'])
    const gone = once(child, 'exit')
    // The deletion is cut off after as many changes in our home as the number of the life, from its first note on.
    let changes = 0
    const watcher = watch(machine.home, { recursive: true }, () => {
      if (!readFileSync(machine.file('project.json'), 'utf8').includes('"deleting"')) return
      if (++changes > life) child.kill('SIGKILL')
    })
    await gone
    watcher.close()
    const noted = readFileSync(machine.file('project.json'), 'utf8').includes('"deleting"')
    begun.push(noted)
    const left = (await listed(machine)).map(({ id }) => id)
    if (left.includes(pelican)) assert.equal((await machine.call(['sessions', 'export', pelican])).out, whole)
    else assert.deepEqual([left, holding(machine, 'pelican')], [[other], ['settings.json']])
  }
  assert.ok(begun.includes(true), 'no life was cut off behind its note')
})

test('a chat finishes a deletion that was cut off, and a line that was half erased', async (t) => {
  const { machine, pelican, other } = await copied(t)
  const doc = fileStore(machine.home).doc<{ sessions: Record<string, unknown> }>(`projects/${machine.slug}/project`, {
    sessions: {},
  })
  const turns = machine.history().flatMap(({ session, turn }) => (session === pelican ? [turn] : []))
  const bodies = readdirSync(machine.file('output'))
  const path = machine.file('history.jsonl')
  const lines = readFileSync(path, 'utf8').split('\n')
  const first = lines.findIndex((line) => line.includes(pelican))
  lines[first] = ' '.repeat(20) + lines[first]!.slice(20)
  writeFileSync(path, lines.join('\n'))
  appendFileSync(path, `{"type":"reply","text":"pelican","session":"${pelican}"`)
  utimesSync(path, 1, 1)
  const until = readFileSync(path).length
  await doc.update(({ sessions: { [pelican]: _, ...sessions }, ...rest }) => ({
    ...rest,
    sessions,
    deleting: { [pelican]: { until, turns, bodies, copies: [] } },
  }))
  assert.equal((await machine.call(['-p', 'the heron once more', '-a', 'alpha'])).code, 0)
  assert.deepEqual(holding(machine, 'pelican'), ['settings.json'])
  assert.deepEqual(
    (await listed(machine)).map(({ id }) => id),
    [other],
  )
})

test('two processes that delete one session, while a third takes a turn, lose nothing else', async (t) => {
  const { machine, pelican, other } = await copied(t)
  const args = ['sessions', 'delete', pelican, '--yes']
  const [a, b, turn] = await Promise.all([
    ended(machine.start(args)),
    ended(machine.start(args)),
    machine.run(['-p', 'the heron meanwhile', '-a', 'alpha']),
  ])
  assert.deepEqual([turn.code, turn.out], [0, 'heron\n'])
  assert.ok([a.code, b.code].includes(0), a.err + b.err)
  assert.deepEqual(
    (await listed(machine)).map(({ id, turns }) => [id, turns]),
    [[other, 3]],
  )
  assert.deepEqual(holding(machine, 'pelican'), ['settings.json'])
})
