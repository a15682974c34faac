import type { TestContext } from 'node:test'
import type { Event } from '../../src/core/talk/entry.ts'
import type { Question } from '../../src/core/talk/question.ts'
import type { WorkerSlot } from '../../src/crew/slot.ts'
import type { CheckSeen } from '../../src/crew/workers/measured-envelope.ts'
import type { Envelope, Worker } from '../../src/crew/worker.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openProjectCopies } from '../../src/turn/copies/project-copies.ts'
import { projectTree } from '../../src/think/turn/project-evidence.ts'
import { WorkerCopies } from '../../src/crew/workers/worker-copies.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const signal = new AbortController().signal
const done = { done: true, signal }

type Rig = { picks?: (string[] | undefined)[]; checks?: CheckSeen[]; held?: boolean }

/** Real copies of a real repository, with a person who gives these answers; `log` is what happened, in order. */
async function rig(t: TestContext, { picks = [], checks = [], held = true }: Rig = {}) {
  const seat = await seated(t, plain({ own: 'cat' }, { leash: 'edit' }))
  const { project } = seat
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], {
      cwd,
      env: { PATH: process.env.PATH, HOME: seat.folder },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const write = (root: string, path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const read = (path: string) =>
    existsSync(join(project, path)) ? readFileSync(join(project, path), 'utf8') : undefined
  git(project, 'init', '-q', '-b', 'main')
  write(project, '.gitignore', '*.log\n')
  write(project, 'src/a.txt', 'a\n')
  write(project, 'src/b.txt', 'b\n')
  write(project, 'docs/d.txt', 'd\n')
  git(project, 'add', '-A')
  git(project, 'commit', '-qm', 'one')
  write(project, 'docs/d.txt', 'd\nnot committed\n')
  await seat.open()
  const { app } = seat
  const log: string[] = []
  const asked: Question[] = []
  const shown: Event[] = []
  const work = new WorkerCopies({
    root: project,
    clock: seat.clock,
    copies: openProjectCopies(app, { keeps: true })!,
    tree: projectTree(app),
    async ask(question) {
      asked.push(question)
      log.push(`asked in ${JSON.stringify(read('src/a.txt'))}`)
      return picks.shift()
    },
    seen(_, event) {
      shown.push(event)
      log.push(event.type === 'note' ? `note: ${event.text}` : event.type)
    },
    async check() {
      log.push('check')
      return checks
    },
    isHeld: () => held,
  })
  t.after(() => work.close())
  const begin = async (id: number, worker: Partial<Worker> = {}) => {
    const slot = slotOf(id, project, worker)
    const place = await work.begin(slot, signal)
    return { slot, at: place?.path ?? project, place }
  }
  const settle = (slot: WorkerSlot, more: Partial<Envelope> = {}, how = done) =>
    work.settle(slot, { ...envelopeOf(slot), ...more }, how)
  return { seat, project, git, write, read, work, begin, settle, log, asked, shown }
}

function slotOf(id: number, cwd: string, worker: Partial<Worker>): WorkerSlot {
  const common = { id, agent: 'own', task: 't', cwd, leash: 'edit' as const, needs: [], patience: 0, since: 0 }
  const usual: Worker = { name: 'w', role: 'implementer', where: 'background', turn: 't', minutes: 20 }
  const own = { ...usual, apart: {}, ...worker }
  return { ...common, session: 's', state: 'starting', terminal: { id: 't' }, queue: [], worker: own }
}

const envelopeOf = ({ id, agent, worker: { name, role } }: WorkerSlot): Envelope => ({
  ...{ worker: `worker_${id}`, name, role, agent, model: 'm' },
  what_was_done: 'Did it.',
  evidence: [],
  unresolved_risks: [],
  exact_next_step: 'None.',
  status: 'completed',
})

test('files that a verifier of another program changes by its commands stay behind, are named, and need no question', async (t) => {
  const { begin, settle, write, read, asked, log } = await rig(t, { held: false })
  const { slot, at } = await begin(1, { role: 'verifier', apart: {} })
  write(at, 'report.xml', '<passed/>\n')
  write(at, 'src/a.txt', 'changed by a test\n')
  const envelope = await settle(slot)
  assert.deepEqual([read('report.xml'), read('src/a.txt'), asked, existsSync(at)], [undefined, 'a\n', [], false])
  golden(t, [envelope.status, envelope.copy, envelope.not_merged, envelope.evidence.at(-1)])
  assert.deepEqual(log, [])
})

test('two workers with distinct scopes: both changes are in the project, the diff is shown, and the checks run after each merge', async (t) => {
  const checks = [{ command: 'npm test', passed: true, evidence: '`npm test` exited with 0:\nok' }]
  const { write, read, begin, settle, log, shown, asked } = await rig(t, { checks })
  const one = await begin(1, { scope: ['src'] })
  const two = await begin(2, { scope: ['docs'] })
  golden(t, one.place!.told)
  write(one.at, 'src/a.txt', 'changed\n')
  // Uncommitted changes of the project are in the copy, and stay.
  write(two.at, 'docs/d.txt', `${readFileSync(join(two.at, 'docs/d.txt'), 'utf8')}more\n`)
  const passed = 'After the changes were brought into the project, `npm test` exited with 0.'
  const told = { evidence: [passed], checks: [{ command: 'npm test', passed: true }] }
  assert.deepEqual(await settle(one.slot, { changed_paths: ['src/a.txt'] }), {
    ...envelopeOf(one.slot),
    ...told,
    changed_paths: ['src/a.txt'],
  })
  assert.deepEqual(await settle(two.slot), { ...envelopeOf(two.slot), ...told, changed_paths: ['docs/d.txt'] })
  assert.deepEqual([read('src/a.txt'), read('docs/d.txt')], ['changed\n', 'd\nnot committed\nmore\n'])
  assert.deepEqual([existsSync(one.at), existsSync(two.at), asked], [false, false, []])
  assert.deepEqual(log.slice(0, 4), [
    'note: worker_1 changed 1 file +1 −1 in its copy: src/a.txt.',
    'call',
    'result',
    'check',
  ])
  const result = shown.find((event) => event.type === 'result')
  assert.deepEqual(result?.type === 'result' && result.data, [{ path: 'src/a.txt', before: 'a\n', after: 'changed\n' }])
})

test('a check that fails makes the work partial, with its output as a risk', async (t) => {
  const checks = [{ command: 'npm test', passed: false, evidence: '`npm test` exited with 1:\n2 tests failed' }]
  const { write, begin, settle } = await rig(t, { checks })
  const { slot, at } = await begin(1)
  write(at, 'src/a.txt', 'broken\n')
  const { status, unresolved_risks, checks: seen } = await settle(slot)
  golden(t, { status, unresolved_risks, seen })
})

test('a worker that wrote outside of its scope is reported before anything is merged; without a person nothing is merged', async (t) => {
  const { write, read, begin, settle, work, log, asked } = await rig(t)
  const { slot, at } = await begin(1, { scope: ['src'] })
  write(at, 'src/a.txt', 'changed\n')
  write(at, 'docs/d.txt', 'stolen\n')
  const envelope = await settle(slot)
  golden(t, log)
  golden(t, asked[0]!.text)
  golden(t, envelope, { [at]: '<at>' })
  assert.deepEqual([read('src/a.txt'), read('docs/d.txt')], ['a\n', 'd\nnot committed\n'])
  // The coordinator may bring in what it finds right.
  await assert.rejects(work.merge(1, ['src/b.txt'], signal), /worker_1 has not changed src\/b\.txt/)
  golden(t, await work.merge(1, ['src/a.txt'], signal), { [at]: '<at>' })
  assert.deepEqual([read('src/a.txt'), read('docs/d.txt')], ['changed\n', 'd\nnot committed\n'])
  await work.close()
  assert.equal(readFileSync(join(at, 'docs/d.txt'), 'utf8'), 'stolen\n', 'what nobody brought in is kept')
})

test('the person decides about changes outside of a scope, and the coordinator cannot decide otherwise', async (t) => {
  const { write, read, begin, settle, work } = await rig(t, { picks: [['allowed'], ['none'], ['all']] })
  for (const [id, inProject] of [
    [1, ['one\n', 'd\nnot committed\n']],
    [2, ['one\n', 'd\nnot committed\n']],
    [3, ['three\n', 'stolen 3\n']],
  ] as const) {
    const { slot, at } = await begin(id, { scope: ['src'] })
    write(at, 'src/a.txt', id === 1 ? 'one\n' : 'three\n')
    write(at, 'docs/d.txt', `stolen ${id}\n`)
    const { status } = await settle(slot)
    assert.equal(status, id === 3 ? 'completed' : 'partial')
    assert.deepEqual([read('src/a.txt'), read('docs/d.txt')], inProject)
  }
  await golden.rejects(t, work.merge(1, undefined, signal))
  await golden.rejects(t, work.merge(2, ['src/a.txt'], signal))
  await golden.rejects(t, work.merge(3, undefined, signal))
})

test('files from which programs could start by themselves come back only by a yes of the person, whatever the coordinator says', async (t) => {
  const { write, read, begin, settle, work, asked } = await rig(t, {
    picks: [undefined, undefined, undefined, ['all']],
  })
  const planted = ['.gitignore', '.vscode/tasks.json', 'lib/opencode.json', 'src/a.txt']
  const plant = (at: string, text: string) => planted.forEach((path) => write(at, path, text))
  const first = await begin(1)
  plant(first.at, 'one\n')
  const { outside, not_merged } = await settle(first.slot)
  golden(t, asked[0]!.text)
  assert.deepEqual([outside, not_merged], [['.vscode/tasks.json', 'lib/opencode.json'], planted])
  await golden.rejects(t, work.merge(1, ['.vscode/tasks.json'], signal))
  golden(t, await work.merge(1, undefined, signal), { [first.at]: '<at>' })
  assert.deepEqual(planted.map(read), ['one\n', undefined, undefined, 'one\n'])
  const second = await begin(2)
  plant(second.at, 'two\n')
  assert.equal((await settle(second.slot)).status, 'completed')
  assert.deepEqual(planted.map(read), ['two\n', 'two\n', 'two\n', 'two\n'])
  // A file that goes starts nothing.
  const third = await begin(3)
  rmSync(join(third.at, '.vscode/tasks.json'))
  assert.equal((await settle(third.slot)).status, 'completed')
  assert.equal(read('.vscode/tasks.json'), undefined)
})

test('lines that both sides changed are the decision of the person, and nothing is lost whatever they say', async (t) => {
  const picks = [undefined, 'none', 'others', 'worker'] as const
  const { write, read, begin, settle, asked, project } = await rig(t, { picks: picks.map((pick) => pick && [pick]) })
  for (const [at, pick] of picks.entries()) {
    write(project, 'src/a.txt', 'a\n')
    write(project, 'src/b.txt', 'b\n')
    const { slot, at: copy } = await begin(at + 1)
    write(copy, 'src/a.txt', 'of the worker\n')
    write(copy, 'src/b.txt', 'of the worker\n')
    write(project, 'src/a.txt', 'of the person\n')
    const envelope = await settle(slot)
    const { text, shows } = asked[at]!
    golden(t, text)
    assert.deepEqual(shows, [{ type: 'diff', path: 'src/a.txt', before: 'of the person\n', after: 'of the worker\n' }])
    const [a, b] = {
      undefined: ['of the person\n', 'b\n'],
      none: ['of the person\n', 'b\n'],
      others: ['of the person\n', 'of the worker\n'],
      worker: ['of the worker\n', 'of the worker\n'],
    }[`${pick}`]
    assert.deepEqual([read('src/a.txt'), read('src/b.txt')], [a, b])
    const left = pick === 'worker' ? undefined : pick === 'others' ? ['src/a.txt'] : ['src/a.txt', 'src/b.txt']
    assert.deepEqual(
      [envelope.status, envelope.not_merged, envelope.copy],
      [pick === 'worker' ? 'completed' : 'partial', left, left && copy],
    )
    if (pick === 'worker') {
      const [, aside] = /are in (\S+)\.$/.exec(envelope.evidence[0]!)!
      assert.equal(readFileSync(join(aside!, 'src/a.txt'), 'utf8'), 'of the person\n')
      continue
    }
    assert.equal(readFileSync(join(copy, 'src/a.txt'), 'utf8'), 'of the worker\n')
    golden(t, envelope.unresolved_risks[0]!, { [copy]: '<copy>' })
  }
})

test('deleted, renamed, executable and binary files come back as they are; ignored files and links that lead out do not', async (t) => {
  const { begin, settle, project, read, write } = await rig(t)
  const { slot, at } = await begin(1)
  rmSync(join(at, 'src/b.txt'))
  renameSync(join(at, 'src/a.txt'), join(at, 'src/moved.txt'))
  writeFileSync(join(at, 'picture.bin'), Buffer.from([0, 255, 10, 0]))
  write(at, 'run.sh', '#!/bin/sh\n')
  chmodSync(join(at, 'run.sh'), 0o755)
  write(at, 'build.log', 'ignored\n')
  symlinkSync('moved.txt', join(at, 'src/inside'))
  const first = await settle(slot)
  const paths = ['picture.bin', 'run.sh', 'src/a.txt', 'src/b.txt', 'src/inside', 'src/moved.txt']
  assert.deepEqual([first.status, first.changed_paths], ['completed', paths])
  assert.deepEqual(
    [read('src/a.txt'), read('src/b.txt'), read('src/inside'), read('build.log')],
    [undefined, undefined, 'a\n', undefined],
  )
  assert.deepEqual(readFileSync(join(project, 'picture.bin')), Buffer.from([0, 255, 10, 0]))
  assert.equal(statSync(join(project, 'run.sh')).mode & 0o111, 0o111)

  const second = await begin(2)
  symlinkSync('/etc', join(second.at, 'etc'))
  write(second.at, 'docs/d.txt', 'changed\n')
  const { outside, not_merged } = await settle(second.slot)
  assert.deepEqual([outside, not_merged, existsSync(join(project, 'etc'))], [['etc'], ['docs/d.txt', 'etc'], false])
})

test('a worker that commits, makes a branch, or goes back to the last commit in its copy loses nothing of the project', async (t) => {
  const { begin, settle, project, read, write, git, work } = await rig(t)
  const refs = () => git(project, 'for-each-ref')
  const before = refs()
  const one = await begin(1)
  write(one.at, 'src/a.txt', 'committed\n')
  git(one.at, 'commit', '-qam', 'by the worker')
  const committed = await settle(one.slot)
  assert.deepEqual(
    [committed.status, committed.changed_paths, read('src/a.txt')],
    ['completed', ['src/a.txt'], 'committed\n'],
  )
  assert.deepEqual([refs(), git(project, 'rev-parse', '--abbrev-ref', 'HEAD')], [before, 'main\n'])

  const two = await begin(2)
  write(two.at, 'src/b.txt', 'by worker 2\n')
  // Uncommitted work of the person goes from the copy, as it would with a stash.
  git(two.at, 'checkout', '-q', '--', 'docs/d.txt')
  git(two.at, 'checkout', '-qb', 'feature')
  const back = await settle(two.slot)
  assert.equal(read('docs/d.txt'), 'd\nnot committed\n')
  assert.deepEqual(
    [back.status, back.outside, back.not_merged],
    ['partial', ['docs/d.txt'], ['docs/d.txt', 'src/b.txt']],
  )
  golden(t, back.unresolved_risks, { [two.at]: '<at>' })
  // The coordinator does not decide about the person's own work.
  await golden.rejects(t, work.merge(2, ['docs/d.txt'], signal))
  assert.match(await work.merge(2, undefined, signal), /^Now in the project: src\/b\.txt\./)
  assert.deepEqual([read('docs/d.txt'), read('src/b.txt')], ['d\nnot committed\n', 'by worker 2\n'])
})

test('the work of a worker that failed or was stopped stays in its copy until it is asked for', async (t) => {
  const { begin, settle, read, write, work, asked } = await rig(t)
  const { slot, at } = await begin(1)
  write(at, 'src/a.txt', 'half done\n')
  const envelope = await settle(slot, { status: 'stopped' }, { done: false, signal })
  assert.deepEqual(
    [envelope.status, envelope.not_merged, read('src/a.txt'), asked],
    ['stopped', ['src/a.txt'], 'a\n', []],
  )
  golden(t, envelope.unresolved_risks[0]!, { [at]: '<at>' })
  assert.match(await work.merge(1, undefined, signal), /^Now in the project: src\/a\.txt\./)
  assert.deepEqual([read('src/a.txt'), existsSync(at)], ['half done\n', false])
})

test('a worker in the project itself names the paths that it really changed', async (t) => {
  const { begin, settle, write, project } = await rig(t)
  const beside = await begin(1, { scope: ['docs'] })
  const { slot } = await begin(2, { apart: undefined, scope: ['src'] })
  write(project, 'src/new.txt', 'new\n')
  write(beside.at, 'docs/d.txt', 'changed\n')
  await settle(beside.slot)
  const { changed_paths, unresolved_risks } = await settle(slot, {
    changed_paths: [join(project, 'src/new.txt'), './src/a.txt'],
  })
  golden(t, { changed_paths, unresolved_risks })
})

test('files of the project that change while an agent works that nothing holds are reported', async (t) => {
  const { begin, settle, write, project } = await rig(t, { held: false })
  const { slot, at } = await begin(1, { scope: ['src'] })
  write(at, 'src/a.txt', 'changed\n')
  // As an agent of another program can, by an absolute path.
  write(project, 'docs/d.txt', 'written from the copy\n')
  const reader = await begin(2, { role: 'explorer', apart: undefined })
  write(project, 'docs/e.txt', 'written by a reader\n')
  const [worker, looked] = [await settle(slot), await settle(reader.slot)]
  assert.deepEqual([worker.changed_paths, worker.outside], [['src/a.txt'], ['docs/d.txt', 'docs/e.txt']])
  golden(t, [looked.changed_paths, looked.outside, looked.unresolved_risks])
})
