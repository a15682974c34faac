import type { TestContext } from 'node:test'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createReadStream, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { HandClock } from '../hand-clock.ts'
import { sha256 } from '../../src/base/hash.ts'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { fetchWork } from '../../src/hub/server/merge/fetched-work.ts'
import { keysAt, wantedWorkspace } from '../../src/hub/server/merge/own-workspaces.ts'
import { approve, fetchTask } from '../../src/cli/task/review-commands.ts'
import { workCarrier } from '../../src/supervise/agent/work-carrier.ts'
import { bundlePart } from '../../src/hub/model/tasks/task-try.ts'
import { HubTaskSource } from '../../src/hub/engine/hub-task-source.ts'
import { HubAway, HubRefused } from '../../src/hub/engine/remote-hub.ts'
import { fileHubLedger } from '../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { bundleOf, BundleRefused, unbundle, writeBundle } from '../../src/worktrees/work-bundle.ts'
import { worktreesOf } from '../../src/worktrees/slot-worktrees.ts'
import { branchOf, worktreeWorkspace } from '../../src/worktrees/task-branches.ts'
import { hubAt } from '../hub/engine/seat.ts'
import { cloneOf, folderFor, git, machineIo, repositoryAt } from '../machines-rig.ts'
import { until } from '../until.ts'
import { servedHub } from '../hub/http/hub-house.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const person = { id: 'own', name: 'user', role: 'admin' } as const
const never = new AbortController().signal
const remote = 'https://git.example/acme/shop.git'

/** A line to a server that can be cut: while it is, bytes of both sides are swallowed, as on a network that is gone. */
async function lineTo(t: TestContext, port: number) {
  const state = { dead: false, limit: Infinity }
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    let sent = 0
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.on('data', (chunk) => {
        if (from === near && (sent += chunk.length) > state.limit) return void near.destroy()
        if (!state.dead) to.write(chunk)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const hangUp = () => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  t.after(() => {
    hangUp()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, state, hangUp }
}

/** A hub over HTTP under a clock that is turned by hand. */
async function hubFor(t: TestContext, folder: string) {
  const clock = new HandClock()
  const ledger = fileHubLedger(join(folder, 'hub.db'), { clock })
  const { hub, close } = hubAt(t, ledger, clock)
  const { at, keys } = await servedHub({ hub, ledger, clock })
  t.after(async () => {
    await at.close()
    await close()
    await ledger.close()
  })
  const keyOf = async (name: string) => (await keys.lend(name, person)).secret
  return { hub, clock, url: at.url, port: Number(new URL(at.url).port), keyOf, texts: join(folder, 'hub.db-texts') }
}

/** An agent on a machine with a clone of its own, at a line to the hub that can be cut. */
async function agentAt(
  t: TestContext,
  at: string,
  name: string,
  from: string,
  { port, keyOf }: Awaited<ReturnType<typeof hubFor>>,
) {
  const line = await lineTo(t, port)
  const io = machineIo(join(at, name, 'home'), at)
  const clone = cloneOf(from, join(at, name, 'clone'), remote)
  const parts = {
    root: clone,
    home: join(at, name, 'home', '.termaite'),
    slug: 's',
    env: io.env,
    trusted: async () => false,
  }
  const worktrees = worktreesOf(parts)!
  const { worktree, cwd } = await worktrees.make(worktrees.plan('agent'), clone)
  const hub = new HubClient({ url: line.url, key: await keyOf(name) })
  const words: string[] = []
  const clock = new HandClock()
  const as = {
    id: name,
    role: 'r',
    capabilities: [],
    source: 'CLI' as const,
    machine: name,
    ...(await keysAt(io, clone, 'https://hub.example')),
  }
  const source = new HubTaskSource({
    hub,
    as,
    clock,
    workspace: worktreeWorkspace(io, clone, worktree, worktrees),
    machine: name,
    carrier: workCarrier(io, { folder: join(at, name, 'bundles'), push: false }),
    tell: (text) => words.push(text),
  })
  await hub.register(as)
  const take = async () => {
    const order = await source.next(never)
    assert.ok(order.type === 'task')
    assert.equal(await source.ack(order.ticket, never), 'kept')
    return order.ticket
  }
  return { hub, line, source, cwd, clone, io, words, clock, take }
}

test('an agent that is cut off for longer than its lease stops, its work is kept as a late try, and one result counts', async (t) => {
  const at = folderFor(t)
  const home = repositoryAt(join(at, 'person'), remote)
  const board = await hubFor(t, at)
  const { hub, clock } = board
  const one = await agentAt(t, at, 'build-1', home, board)
  const two = await agentAt(t, at, 'build-2', home, board)
  const me = machineIo(join(at, 'home'), home)
  const mine = new HubClient({ url: board.url, key: 'the-key' })
  const { id } = await mine.add({
    prompt: 'Sell pears.',
    ...(await wantedWorkspace(me, undefined, 'https://hub.example')),
  })
  const ticket = await one.take()
  writeFileSync(join(one.cwd, 'shop.txt'), 'apples\nhalf a pear\n')

  // Within the lease nothing is lost: the report is repeated until the line is back.
  one.line.state.dead = true
  one.line.hangUp()
  const report = one.source.progress(ticket, 'half done', never)
  await until(() => one.words.length > 0)
  await clock.turn(20 * 60_000)
  one.line.state.dead = false
  one.line.hangUp()
  await until(async () => (await one.clock.turn(30_000), (await hub.task(id)).state === 'IN_PROGRESS'))
  assert.equal(await report, 'kept')

  // After the lease another agent has the task. The first one learns it with its next word.
  one.line.state.dead = true
  one.line.hangUp()
  await clock.turn(31 * 60_000)
  await until(async () => (await hub.task(id)).state === 'QUEUED')
  await clock.turn(11 * 60_000)
  const other = await two.take()
  writeFileSync(join(two.cwd, 'shop.txt'), 'apples\npears\n')
  one.line.state.dead = false
  const watch = one.source.revoked(ticket, never)
  await until(async () => (await one.clock.turn(5_000), one.line.hangUp(), true))
  const why = await until(async () => {
    const said = await Promise.race([watch, one.clock.turn(5_000).then(() => undefined)])
    return said
  })
  golden(t, why)
  await one.source.abandoned(ticket, why, never)
  const late = (await hub.task(id)).tries![0]!
  golden(t, [
    late.late,
    late.end,
    late.result?.message,
    late.machine,
    late.diff?.added,
    (await hub.task(id)).state,
    (await hub.task(id)).agent,
  ])
  // An answer under the old ticket is refused, and does not replace the late work either.
  assert.equal(await one.source.respond(ticket, { status: 'COMPLETED', message: 'mine' }, never), 'lost')

  assert.equal(await two.source.respond(other, { status: 'COMPLETED', message: 'done' }, never), 'kept')
  const done = await mine.task(id)
  assert.deepEqual(
    [
      done.state,
      done.agent,
      done.result?.message,
      done.tries!.map(({ agent, end, late = false }) => [agent, end, late]),
    ],
    [
      'IN_REVIEW',
      'build-2',
      'done',
      [
        ['build-1', 'QUEUED', true],
        ['build-2', 'IN_REVIEW', false],
      ],
    ],
  )

  // The person has neither branch. A fetch brings the accepted work, or a late try under a name of its own.
  const branch = branchOf(id)
  const lateWork = await fetchTask(me, mine, done, 1)
  assert.deepEqual(lateWork, { branch: `${branch}-try-1`, root: home, how: 'new', try: 1 })
  assert.equal(git(home, 'show', `${branch}-try-1:shop.txt`), 'apples\nhalf a pear')
  const merged = await approve(me, mine, done, { merge: true, yes: true })
  assert.equal(readFileSync(join(home, 'shop.txt'), 'utf8'), 'apples\npears\n')
  assert.deepEqual(
    [merged.task.state, merged.merged?.branch, merged.merged?.into, merged.merged?.commit],
    ['APPROVED', branch, 'main', git(home, 'rev-parse', 'HEAD')],
  )
  golden(t, me.said(), { [branch]: '<branch>' })
})

test('an upload and a download that are cut off go on where they were, at any part', async (t) => {
  const at = folderFor(t)
  const home = repositoryAt(join(at, 'person'), remote)
  const board = await hubFor(t, at)
  const agent = await agentAt(t, at, 'build-1', home, board)
  const me = machineIo(join(at, 'home'), home)
  const mine = new HubClient({ url: board.url, key: 'the-key' })
  const { id } = await mine.add({ prompt: 'x', ...(await wantedWorkspace(me, undefined, 'https://hub.example')) })
  const ticket = await agent.take()
  // Three parts of noise, which does not get smaller when it is packed.
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  writeFileSync(join(agent.cwd, 'noise'), randomBytes(2.5 * bundlePart))
  agent.line.state.limit = 1.5 * bundlePart
  const answer = agent.source.respond(ticket, { status: 'COMPLETED', message: 'done' }, never)
  await until(() => agent.words.some((words) => words.includes('cannot be reached')))
  const before = readdirSync(board.texts).length
  assert.ok(before >= 1, 'what arrived before the cut is kept')
  agent.line.state.limit = Infinity
  await until(async () => (await agent.clock.turn(30_000), (await board.hub.task(id)).state === 'IN_REVIEW'))
  assert.equal(await answer, 'kept')
  const task = await mine.task(id)
  const last = task.tries![0]!
  assert.equal(last.bundle!.parts.length, 3)
  // The download breaks off after each part, and goes on.
  let reads = 0
  const cut = async function* (from: number) {
    reads++
    let left = bundlePart
    for await (const chunk of mine.bundle(id, 1, from)) {
      yield chunk
      if ((left -= chunk.length) <= 0 && reads < 3) throw new HubAway('the line broke')
    }
  }
  const clock = new HandClock()
  const fetching = fetchWork({ ...me, clock }, task, last, home, (_id, _number, from) => cut(from))
  let over = false
  const done = fetching.finally(() => (over = true))
  await until(async () => (await clock.turn(1_000), over))
  assert.deepEqual([(await done).how, reads], ['new', 3])
  assert.equal(git(home, 'rev-parse', branchOf(id)), last.commit)
})

test('a bundle is refused that is damaged, too large, not the one of its try, or for a clone that lacks its beginning', async (t) => {
  const at = folderFor(t)
  const home = repositoryAt(join(at, 'person'), remote)
  const board = await hubFor(t, at)
  const agent = await agentAt(t, at, 'build-1', home, board)
  const me = machineIo(join(at, 'home'), home)
  const mine = new HubClient({ url: board.url, key: 'the-key' })
  const { id } = await mine.add({ prompt: 'x', ...(await wantedWorkspace(me, undefined, 'https://hub.example')) })
  const ticket = await agent.take()
  const part = Buffer.from('not what it says')
  const sha = (bytes: Uint8Array) => sha256().update(bytes).digest('hex')
  const wrong = { id: sha(Buffer.from('other')), bytes: part.length, parts: [{ id: sha(part), bytes: part.length }] }
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'accepted',
      (error: Error) => [(error as HubRefused).status, error.message],
    )
  const respond = (bundle: typeof wrong) =>
    agent.hub.respond(ticket, 'build-1', { status: 'IN_REVIEW', message: 'x', place: { bundle } })
  golden(t, await refusal(respond(wrong)))
  assert.deepEqual(await agent.hub.bundleMissing(ticket, wrong), [sha(part)])
  await agent.hub.sendPart(ticket, part)
  assert.deepEqual(await agent.hub.bundleMissing(ticket, wrong), [])
  golden(t, await refusal(respond(wrong)))
  const large = { id: sha(part), bytes: 257 * 1024 * 1024, parts: wrong.parts }
  assert.equal(((await refusal(agent.hub.bundleMissing(ticket, large))) as [number])[0], 413)
  // Another agent neither sends parts nor late work for a task that it never had.
  const stranger = new HubClient({ url: board.url, key: await board.keyOf('stranger') })
  await stranger.register({ id: 'stranger', role: 'r', capabilities: [], workspace: '/x', source: 'CLI' })
  for (const act of [
    stranger.sendPart(id, part),
    stranger.bundleMissing(id, wrong),
    stranger.late(id, 'stranger', { message: 'x' }),
  ])
    assert.equal(((await refusal(act)) as [number])[0], 409)

  // The person's side trusts neither the hub nor the agent.
  writeFileSync(join(home, 'pears.txt'), 'pears\n')
  git(home, 'add', '-A')
  git(home, 'commit', '-qm', 'pears')
  const [base, commit] = [git(home, 'rev-parse', 'HEAD~1'), git(home, 'rev-parse', 'HEAD')]
  git(home, 'branch', 'work')
  const file = join(at, 'work.bundle')
  await writeBundle(me.env, home, { branch: 'work', base, commit }, file)
  assert.equal(
    (await bundleOf(file)).id,
    await new Promise((resolve) => {
      const hash = sha256()
      createReadStream(file)
        .on('data', (chunk) => hash.update(chunk))
        .on('end', () => resolve(hash.digest('hex')))
    }),
  )
  const other = cloneOf(home, join(at, 'other'), remote)
  git(other, 'reset', '-q', '--hard', base)
  git(other, 'update-ref', '-d', 'refs/remotes/origin/main')
  git(other, 'update-ref', '-d', 'refs/remotes/origin/work')
  git(other, 'update-ref', '-d', 'refs/remotes/origin/HEAD')
  git(other, 'reflog', 'expire', '--expire=now', '--all')
  git(other, 'gc', '-q', '--prune=now')
  const into = (root: string, path = file, wanted = commit) =>
    unbundle(me.env, root, path, { as: 'termaite/task-x', commit: wanted, mayMove: () => false }).catch(
      (error: unknown) => (error instanceof BundleRefused ? error.message : error),
    )
  assert.match(String(await into(other, file, base)), /does not hold exactly the commit [0-9a-f]{8} that its try left/)
  const damaged = join(at, 'damaged.bundle')
  const bytes = readFileSync(file)
  bytes[bytes.length - 30]! ^= 1
  writeFileSync(damaged, bytes)
  assert.match(String(await into(other, damaged)), /^The bundle is damaged: /)
  // Two repositories that are begun in the same second would have the same first commit.
  const unrelated = repositoryAt(join(at, 'stranger'))
  git(unrelated, 'commit', '-q', '--amend', '-m', 'another beginning')
  git(unrelated, 'reflog', 'expire', '--expire=now', '--all')
  git(unrelated, 'gc', '-q', '--prune=now')
  assert.match(
    String(await into(unrelated)),
    /does not have the commit .* that the work begins at\. Get it first: git -C .* fetch --all/,
  )
  const words = join(at, 'words')
  writeFileSync(words, 'hello')
  golden(t, await into(other, words))
  assert.deepEqual([await into(other), await into(other)], ['new', 'there'])
  git(other, 'checkout', '-q', 'termaite/task-x')
  git(other, 'commit', '-q', '--allow-empty', '-m', 'of the person')
  git(other, 'reset', '-q', '--hard', base)
  git(other, 'commit', '-q', '--allow-empty', '-m', 'another one')
  git(other, 'checkout', '-q', 'main')
  golden(t, String(await into(other)), { [at]: '<at>' })
})
