import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitFolders } from '../../../src/base/files/git.ts'
import { sha256 } from '../../../src/base/hash.ts'
import { HandClock, settled } from '../../hand-clock.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { ticketOf } from '../../../src/hub/engine/rules/task-rules.ts'
import { worktreesOf } from '../../../src/worktrees/slot-worktrees.ts'
import { HubAway, HubRefused } from '../../../src/hub/engine/remote-hub.ts'
import type { Spent } from '../../../src/core/work/budget.ts'
import type { HubClient } from '../../../src/hub/client/hub-client.ts'
import type { TaskChanges, TaskChecks, TaskWorkspace } from '../../../src/hub/model/tasks/task-source.ts'
import type { SentCheck } from '../../../src/hub/engine/texts/task-texts.ts'
import { projectGit } from '../../../src/base/git/project-git.ts'
import { hasBranch } from '../../../src/worktrees/worktree-git.ts'
import { plainWorkspace, worktreeWorkspace } from '../../../src/worktrees/task-branches.ts'
import { HubTaskSource } from '../../../src/hub/engine/hub-task-source.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const as = { id: 'me', role: 'orc', capabilities: [], workspace: '/w', source: 'CLI' as const }
const never = new AbortController().signal

/** The real hub in this process, behind a client that can be cut off. */
function seat(workspace = plainWorkspace, { checks, vouches = true }: { checks?: TaskChecks; vouches?: boolean } = {}) {
  const clock = new HandClock(0)
  const hub = new Hub({ ledger: memoryHubLedger({ clock }), clock, published: () => {} })
  const words: string[] = []
  const line = { cut: false }
  const said = async <T>(call: () => T | Promise<T>): Promise<T> => {
    if (line.cut) throw new HubAway('nobody answers')
    try {
      return await call()
    } catch (error) {
      const { kind, message } = error as { kind?: string; message: string }
      throw new HubRefused(kind === 'missing' ? 404 : 409, message)
    }
  }
  const idOf = (ticket: string) => ticket.split('.')[0]!
  const client = {
    url: 'http://hub',
    register: (who: typeof as) => said(() => hub.register(who)),
    wait: (id: string, seconds: number, signal: AbortSignal) =>
      said(async () => {
        const given = await hub.wait(id, clock.elapsed() + seconds * 1000, signal)
        return given.type === 'task' ? { ...given, ticket: ticketOf(given.task) } : given
      }),
    tell: (ticket: string, verb: string, body: Record<'agent' | 'message' | 'question' | 'reason', string>) =>
      said(() => {
        if (verb === 'ack') return hub.work.ack(ticket, body.agent)
        if (verb === 'block') return hub.work.block(ticket, body.agent, body.reason, body.question)
        if (verb === 'release') return hub.work.release(ticket, body.agent, body.reason)
        return hub.work.progress(ticket, body.agent, body.message)
      }),
    respond: (ticket: string, agent: string, response: Parameters<Hub['work']['respond']>[2]) =>
      said(() => hub.work.respond(ticket, agent, response)),
    sendText: (ticket: string, text: string) => said(async () => (await hub.task(idOf(ticket)), hub.texts.keep(text))),
    task: (id: string) => said(() => hub.task(id)),
    agent: (id: string) => said(() => hub.agentNow(id)),
    spent: (id: string, all: Spent) => said(() => hub.reports.spent(id, all)),
  } as unknown as HubClient
  const vouch = (id: string, sent: SentCheck[]) => said(() => hub.work.checked(id, sent))
  /** The source of another process of the same agent. */
  const again = () =>
    new HubTaskSource({
      hub: client,
      as,
      clock,
      workspace,
      machine: 'here',
      checks,
      vouch: vouches ? vouch : undefined,
      tell: (text) => words.push(text),
    })
  const duty = again()
  const add = (prompt: string, cap = {}) =>
    hub.add({ prompt, workspace: '/w', by: 'user', capabilities: [], needs: [], cap })
  return { hub, clock, duty, again, words, line, add }
}

test('a task is taken, told of and answered; the hub learns who we are when it does not know', async () => {
  const { hub, duty, add } = seat()
  const { id } = await add('Do it.')
  const order = await duty.next(never)
  assert.deepEqual(order, { type: 'task', ticket: `${id}.1`, prompt: 'Do it.', notes: [] })
  assert.equal((await hub.agent('me')).source, 'CLI')
  assert.equal(await duty.ack(`${id}.1`, never), 'kept')
  assert.equal(await duty.progress(`${id}.1`, 'half', never), 'kept')
  assert.equal(await duty.respond(`${id}.1`, { status: 'COMPLETED', message: 'Done.' }, never), 'kept')
  assert.deepEqual([(await hub.task(id)).state, (await hub.task(id)).result], ['COMPLETED', { message: 'Done.' }])
  duty.reportUsage({ tokens: 12, cost: 0.5, priced: 10 })
  await settled()
  const { tokens, cost, priced } = await hub.agent('me')
  assert.deepEqual({ tokens, cost, priced }, { tokens: 12, cost: 0.5, priced: 10 })
})

test('a task that the agent answered itself is settled, and one that was taken away is lost', async () => {
  const { hub, duty, add, clock } = seat()
  const first = await add('One.')
  await duty.next(never)
  await duty.ack(`${first.id}.1`, never)
  await hub.work.respond(first.id, 'me', { status: 'COMPLETED', message: 'By myself.' })
  assert.equal(await duty.respond(`${first.id}.1`, { status: 'COMPLETED', message: 'Said.' }, never), 'settled')
  const second = await add('Two.')
  await duty.next(never)
  await duty.ack(`${second.id}.1`, never)
  const lost = duty.revoked(`${second.id}.1`, never)
  await hub.cancel(second.id, 'user', 'not needed')
  await clock.turn(5_000)
  assert.equal(await lost, 'not needed')
  assert.equal(await duty.progress(`${second.id}.1`, 'half', never), 'lost')
})

test('while the hub is away nothing is lost: the answer is given again until it is heard', async (t) => {
  const { hub, duty, add, clock, line, words } = seat()
  const { id } = await add('Do it.')
  await duty.next(never)
  await duty.ack(`${id}.1`, never)
  line.cut = true
  const answered = duty.respond(`${id}.1`, { status: 'COMPLETED', message: 'Done.' }, never)
  await clock.turn(7_000)
  assert.equal((await hub.task(id)).state, 'ASSIGNED')
  line.cut = false
  await clock.turn(8_000)
  assert.equal(await answered, 'kept')
  assert.equal((await hub.task(id)).state, 'COMPLETED')
  golden(t, words)
  line.cut = true
  const leaving = new AbortController()
  const waiting = duty.next(leaving.signal)
  leaving.abort()
  assert.deepEqual(await waiting, { type: 'none' })
})

/** A repository with one commit, and a worktree of it. */
async function repository(t: TestContext) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-workspace-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, 'project')
  const env = { PATH: process.env.PATH, HOME: folder }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: root, env })
      .toString()
      .trim()
  execFileSync('git', ['init', '-q', root], { env })
  git('commit', '-q', '--allow-empty', '-m', 'first')
  const worktrees = worktreesOf({ root, home: folder, slug: 's', env, trusted: async () => true })!
  const { worktree } = await worktrees.make(worktrees.plan('agent-x'), root)
  const workspace = worktreeWorkspace({ env }, root, worktree, worktrees, { remakes: true })
  return { git, worktree, worktrees, root, workspace }
}

test('each task is a branch from where the project is, ends as a diff, and comes back where it was', async (t) => {
  const { git, worktree, workspace } = await repository(t)
  const write = (name: string) => writeFileSync(join(worktree.path, name), `${name}\n`)
  await workspace.begin('task-aaaaaaaa', { workspace: '/w' }, new AbortController().signal)
  write('a')
  const first = await workspace.end('task-aaaaaaaa', 'Made a.\nAnd more.')
  assert.equal(first?.branch, 'termaite/task-aaaaaaaa')
  assert.match(first.diff, /^\+a$/m)
  await workspace.begin('task-bbbbbbbb', { workspace: '/w' }, new AbortController().signal)
  assert.equal(existsSync(join(worktree.path, 'a')), false, 'one task does not see another')
  assert.equal((await workspace.end('task-bbbbbbbb', 'Looked.'))?.diff, '')
  await workspace.begin('task-aaaaaaaa', { workspace: '/w' }, new AbortController().signal)
  write('more')
  const again = await workspace.end('task-aaaaaaaa', 'More.')
  assert.match(again!.diff, /^\+a$[^]*^\+more$/m)
  assert.deepEqual(git('log', '--format=%s', 'termaite/task-aaaaaaaa').split('\n'), ['More.', 'Made a.', 'first'])
  assert.equal(await workspace.clear(), undefined)
  assert.equal(existsSync(worktree.path), false)
  assert.deepEqual(git('branch', '--format=%(refname:short)', '--list', 'termaite/*').split('\n'), [
    'termaite/task-aaaaaaaa',
  ])
})

test('work that was committed before its process was killed is handed in by the next process, with all that was added', async (t) => {
  const { git, worktree, workspace } = await repository(t)
  const write = (name: string) => writeFileSync(join(worktree.path, name), `${name}\n`)
  await workspace.begin('task-aaaaaaaa', { workspace: '/w' }, never)
  write('a')
  // The first process is killed here, while it waits for a hub that is away: the next one ends the same task.
  const first = await workspace.end('task-aaaaaaaa', 'Made a.')
  const again = await workspace.end('task-aaaaaaaa', 'Made a.')
  assert.deepEqual(again, first)
  write('more')
  const more = await workspace.end('task-aaaaaaaa', 'More.')
  assert.match(more!.diff, /^\+a$[^]*^\+more$/m)
  // An agent that went on in a branch of its own making is not left out either.
  await workspace.begin('task-aaaaaaaa', { workspace: '/w' }, never)
  execFileSync('git', ['checkout', '-q', '-b', 'mine'], { cwd: worktree.path })
  write('mine')
  assert.match((await workspace.end('task-aaaaaaaa', 'Mine.'))!.diff, /^\+mine$/m)
  assert.deepEqual(git('log', '--format=%s', 'termaite/task-aaaaaaaa').split('\n'), [
    'Mine.',
    'More.',
    'Made a.',
    'first',
  ])
  // A task that has no branch, and the branch of another task, are left alone.
  assert.equal(await workspace.end('task-cccccccc', 'Nothing.'), undefined)
  await workspace.begin('task-bbbbbbbb', { workspace: '/w' }, never)
  assert.equal(await workspace.end('task-aaaaaaaa', 'Late.'), undefined)
})

test('a branch is not called missing where git cannot be asked on a full disk', async (t) => {
  const { git, root, workspace } = await repository(t)
  await workspace.begin('task-aaaaaaaa', { workspace: '/w' }, never)
  const asked = projectGit({ PATH: process.env.PATH, HOME: root })
  const branch = 'termaite/task-aaaaaaaa'
  assert.deepEqual([await hasBranch(asked, root, branch), await hasBranch(asked, root, `${branch}x`)], [true, false])
  const full = new Error('ENOSPC: no space left on device, write')
  const unable = Object.assign(() => Promise.reject(full), asked)
  await assert.rejects(hasBranch(unable, root, branch), full)
  assert.equal(git('rev-parse', '--abbrev-ref', branch).trim(), branch)
})

test('agents that start at the same moment get a worktree each, under the next free names', async (t) => {
  const { worktrees, root } = await repository(t)
  const made = await Promise.all(Array.from({ length: 6 }, () => worktrees.make(worktrees.plan('agent-y'), root)))
  assert.deepEqual(
    made.map(({ worktree }) => worktree.branch).sort(),
    ['', '-2', '-3', '-4', '-5', '-6'].map((more) => `termaite/agent-y${more}`),
  )
  assert.equal(new Set(made.map(({ worktree }) => worktree.path)).size, 6)
})

test('a worktree that holds work of no task stays', async (t) => {
  const { worktree, workspace } = await repository(t)
  writeFileSync(join(worktree.path, 'mine'), '')
  golden(t, (await workspace.clear())!, { [worktree.path]: '<path>' })
  assert.equal(existsSync(worktree.path), true)
})

test('a task that ends with a diff is there to be reviewed', async (t) => {
  const { git, worktree, workspace } = await repository(t)
  const { hub, duty, add } = seat(workspace)
  const { id } = await add('Do it.')
  await duty.next(never)
  await duty.ack(`${id}.1`, never)
  writeFileSync(join(worktree.path, 'new'), 'x\n')
  await duty.respond(`${id}.1`, { status: 'COMPLETED', message: 'Done.' }, never)
  const { state, result, tries = [] } = await hub.task(id)
  assert.deepEqual([state, result], ['IN_REVIEW', { message: 'Done.' }])
  const { began: _1, ended: _2, diff, base, commit, ...rest } = tries[0]!
  assert.deepEqual(rest, {
    number: 1,
    agent: 'me',
    end: 'IN_REVIEW',
    result: { message: 'Done.' },
    machine: 'here',
    branch: `termaite/task-${id.slice(-8)}`,
    worktree: worktree.path,
  })
  assert.deepEqual([base, commit], [git('rev-parse', 'HEAD'), git('rev-parse', rest.branch)])
  const { id: text, bytes, ...size } = diff!
  assert.deepEqual(size, { files: 1, added: 1, removed: 0 })
  const chunks: Uint8Array[] = []
  for await (const chunk of hub.texts.read({ id: text, bytes })) chunks.push(chunk)
  assert.match(Buffer.concat(chunks).toString(), /^\+x$/m)
})

test('work is committed under the title of its task, whatever the agent answered and whichever process was given the task', async (t) => {
  const { git, worktree, workspace } = await repository(t)
  const scraped = { status: 'COMPLETED' as const, message: '✻ Cogitated for 0s · done 1:31 AM' }
  const subjectOf = (id: string) => git('log', '-1', '--format=%s', `termaite/task-${id.slice(-8)}`)
  const at = seat(workspace)
  const subjects: string[] = []
  for (const [prompt, by] of [
    ['Round half up\n\nAs the till does.', at.duty],
    ['Fix what was found: <result task="ask" agent="claude">\n✻ Cogitated\n</result>', at.duty],
    ['Sell pears', at.again()],
  ] as const) {
    const { id } = await at.add(prompt)
    await at.duty.next(never)
    await at.duty.ack(`${id}.1`, never)
    writeFileSync(join(worktree.path, id), 'x\n')
    await by.respond(`${id}.1`, scraped, never)
    subjects.push(subjectOf(id))
  }
  assert.deepEqual(subjects, ['Round half up', 'Fix what was found', 'Sell pears'])
})

/** A task that is at work in a worktree, in which its agent has made a file. */
async function taskAtWork(t: TestContext) {
  const { git, worktree, workspace } = await repository(t)
  const at = seat(workspace)
  const { id } = await at.add('Do it.')
  await at.duty.next(never)
  await at.duty.ack(`${id}.1`, never)
  writeFileSync(join(worktree.path, 'new'), 'x\n')
  const lock = join(gitFolders(worktree.path)!.own, 'index.lock')
  const respond = (status: 'COMPLETED' | 'FAILED') => at.duty.respond(`${id}.1`, { status, message: 'Done.' }, never)
  /** Turns the clock until the answer is given. */
  const answered = async (answer: Promise<unknown>) => {
    let isOver = false
    void answer.finally(() => (isOver = true))
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      await at.clock.turn(1_000)
    }
    return answer
  }
  return { ...at, git, worktree, id, lock, respond, answered }
}

test('a task whose work cannot be committed is not done: a person is asked, with git’s reason and the worktree', async (t) => {
  const { hub, duty, id, lock, worktree, respond, answered, words } = await taskAtWork(t)
  writeFileSync(lock, '')
  golden(t, await answered(respond('COMPLETED')), { [worktree.path]: '<path>', [lock]: '<lock>' })
  const blocked = await hub.task(id)
  golden(t, [blocked.state, blocked.why, blocked.question], { [worktree.path]: '<path>', [lock]: '<lock>' })
  golden(t, words, { [worktree.path]: '<path>', [lock]: '<lock>', [id]: '<id>' })
  // The person puts it right, and the same agent hands in the work that it had done.
  rmSync(lock)
  await hub.questions.answer(id, ['Go on.'], 'user')
  await duty.next(never)
  assert.equal(await duty.ack(`${id}.2`, never), 'kept')
  assert.equal(await duty.respond(`${id}.2`, { status: 'COMPLETED', message: 'Done.' }, never), 'kept')
  assert.equal((await hub.task(id)).state, 'IN_REVIEW')
})

test('a lock that another git holds for a moment is waited for', async (t) => {
  const { hub, id, lock, respond, clock } = await taskAtWork(t)
  writeFileSync(lock, '')
  const slept = clock.sleep.bind(clock)
  clock.sleep = async (ms, signal) => {
    // The other git is done by the first retry.
    if (ms === 1_000) return rmSync(lock)
    await slept(ms, signal)
  }
  assert.equal(await respond('COMPLETED'), 'kept')
  assert.equal((await hub.task(id)).state, 'IN_REVIEW')
})

test('a worktree that was removed during the task leaves the task open, and a failure stays one', async (t) => {
  const { hub, id, worktree, respond, answered } = await taskAtWork(t)
  rmSync(worktree.path, { recursive: true })
  golden(t, await answered(respond('COMPLETED')), { [worktree.path]: '<path>' })
  const other = await taskAtWork(t)
  rmSync(other.worktree.path, { recursive: true })
  assert.equal(await other.answered(other.respond('FAILED')), 'kept')
  const states = [(await hub.task(id)).state, (await other.hub.task(other.id)).state]
  assert.deepEqual(states, ['BLOCKED', 'FAILED'])
})

test('a worktree that is gone before a task is made again, and its agent hears that it moved', async (t) => {
  const { worktree, workspace } = await repository(t)
  const { hub, duty, add } = seat(workspace)
  const { id } = await add('Do it.')
  rmSync(worktree.path, { recursive: true })
  await duty.next(never)
  assert.equal(await duty.ack(`${id}.1`, never), 'moved')
  writeFileSync(join(worktree.path, 'new'), 'x\n')
  assert.equal(await duty.respond(`${id}.1`, { status: 'COMPLETED', message: 'Done.' }, never), 'kept')
  assert.equal((await hub.task(id)).state, 'IN_REVIEW')
})

test('a folder that cannot be prepared on a full disk is tried again until there is room, and the task stays', async (t) => {
  let isFull = true
  const begin = async () => {
    if (isFull) throw new Error('fatal: unable to write new index file: No space left on device')
  }
  const { hub, duty, add, clock, words } = seat({ ...plainWorkspace, begin })
  const { id } = await add('Do it.')
  await duty.next(never)
  const taken = duty.ack(`${id}.1`, never)
  await clock.turn(7_000)
  assert.equal((await hub.task(id)).state, 'ASSIGNED')
  isFull = false
  await clock.turn(30_000)
  assert.equal(await taken, 'kept')
  golden(t, words)
})

test('a task goes back to the queue for any agent where the folder cannot be prepared', async (t) => {
  const { worktree, workspace } = await repository(t)
  const { hub, duty, add } = seat(workspace)
  const { id } = await add('Do it.')
  rmSync(worktree.path, { recursive: true })
  writeFileSync(worktree.path, 'in the way')
  await duty.next(never)
  golden(t, await duty.ack(`${id}.1`, never), { [worktree.path]: '<path>' })
  const { state, wish, returns, why: reason } = await hub.task(id)
  golden(t, { state, wish, returns, reason }, { [worktree.path]: '<path>' })
})

test('an agent whose task passes its cap is told to stop, and gets the task again with the answer', async (t) => {
  const { hub, clock, duty, add } = seat()
  const { id } = await add('Do it.', { cost: 1 })
  await duty.next(never)
  await duty.ack(`${id}.1`, never)
  const revoked = duty.revoked(`${id}.1`, never)
  duty.reportUsage({ tokens: 10, cost: 1.25, priced: 10 })
  await clock.turn(5_000)
  assert.equal(await revoked, 'it is paused: used $1.25 of $1.00')
  assert.equal(await duty.progress(`${id}.1`, 'at work', never), 'lost')
  const order = duty.next(never)
  await hub.questions.answer(id, ['again'], 'user')
  const given = await order
  golden(t, given.type === 'task' && [given.ticket, given.notes.map(({ kind, text }) => [kind, text])], {
    [id]: '<id>',
  })
})

const changes: TaskChanges = { branch: 'b', worktree: '/tree', base: 'c0', commit: 'c1', diff: '+x' }

/** A workspace whose task always leaves a change; `restored` counts how often it was put back. */
function changedWorkspace() {
  const seen = { restored: 0 }
  const workspace: TaskWorkspace = {
    ...plainWorkspace,
    end: async () => changes,
    restore: async () => void seen.restored++,
  }
  return { workspace, seen }
}

test('checks run before the review, are told of once however often the hub is away, and without a person’s key they are what the agent says', async () => {
  for (const vouches of [true, false]) {
    const { workspace, seen } = changedWorkspace()
    const long = 'line\n'.repeat(2_000)
    const run: TaskChecks['run'] = async (work, _, begins) => {
      begins('npm test')
      line.cut = true
      assert.deepEqual(work, changes)
      return [{ command: 'npm test', exit: 1, ms: 7, output: 'the end', whole: long }]
    }
    const { hub, duty, add, clock, line } = seat(workspace, { checks: { run }, vouches })
    const { id } = await add('Do it.')
    await duty.next(never)
    await duty.ack(`${id}.1`, never)
    const answered = duty.respond(`${id}.1`, { status: 'COMPLETED', message: 'Done.' }, never)
    await clock.turn(7_000)
    line.cut = false
    await clock.turn(8_000)
    assert.equal(await answered, 'kept')
    const { state, tries, notes } = await hub.task(id)
    const whole = { id: sha256().update(long).digest('hex'), bytes: long.length }
    const ranBy = vouches ? 'termaite' : 'agent'
    assert.deepEqual(
      [state, tries![0]!.checks, seen.restored],
      ['IN_REVIEW', [{ command: 'npm test', exit: 1, ms: 7, output: 'the end', whole, ranBy }], 1],
    )
    assert.equal(
      notes.some(({ text }) => text === 'The checks run: npm test'),
      true,
    )
  }
})

test('checks are stopped when their task is cancelled, and their failure loses no work', async (t) => {
  const { workspace, seen } = changedWorkspace()
  const begun = Promise.withResolvers<void>()
  const run: TaskChecks['run'] = async (_work, signal) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    return []
  }
  const { hub, duty, add, clock } = seat(workspace, { checks: { run } })
  const { id } = await add('Do it.')
  await duty.next(never)
  await duty.ack(`${id}.1`, never)
  const answered = duty.respond(`${id}.1`, { status: 'COMPLETED', message: 'Done.' }, never)
  await begun.promise
  await hub.cancel(id, 'user')
  await clock.turn(5_000)
  assert.deepEqual([await answered, seen.restored], ['lost', 1])
  const broken = seat(workspace, { checks: { run: () => Promise.reject(new Error('no bash')) } })
  const second = await broken.add('Do it.')
  await broken.duty.next(never)
  await broken.duty.ack(`${second.id}.1`, never)
  assert.equal(await broken.duty.respond(`${second.id}.1`, { status: 'COMPLETED', message: 'Done.' }, never), 'kept')
  golden(t, [(await broken.hub.task(second.id)).state, broken.words], { [second.id]: '<id>' })
})
