// How many tasks live through a ledger in a second (added, given out, acknowledged, answered), without HTTP: SQLite in one
// process, and PostgreSQL with one, two and four hubs, each a process of its own. Run: node bench/ledger-lives.ts
import type { HubLedger, LedgerRound, NewChange, TaskRow } from '../src/hub/model/hub-ledger.ts'
import type { HubAgent, Task } from '../src/hub/model/tasks/task.ts'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyWrites as nothing } from '../src/hub/model/hub-ledger.ts'

const lives = Number(process.env.LIVES ?? 10_000)
const agents = 100
/** The most wishes of one round. */
const most = 20

type Agent = { id: string; task?: string; step: 'idle' | 'ack' | 'respond' }

async function compare(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-lives-'))
  const rows: string[] = []
  rows.push(await run('SQLite', 1, `sqlite ${join(folder, 'hub.db')}`))
  rmSync(folder, { recursive: true })
  const { TestPostgres, skipWithoutPostgres } = await import('../test/postgres.ts')
  if (skipWithoutPostgres) rows.push(skipWithoutPostgres)
  else
    for (const hubs of [1, 2, 4]) {
      const server = await TestPostgres.start({ durable: process.env.DURABLE !== '0' })
      rows.push(await run(`PostgreSQL, ${hubs} hub${hubs > 1 ? 's' : ''}`, hubs, await server.database()))
      await server.end()
    }
  console.log(rows.join('\n'))
}

async function run(name: string, hubs: number, where: string): Promise<string> {
  const began = performance.now()
  let waited = 0
  const children = Array.from({ length: hubs }, (_, n) =>
    fork(import.meta.filename, ['hub', String(n), String(hubs), where], { stdio: 'inherit' }),
  )
  const ready = await Promise.all(children.map((child) => once(child, 'message')))
  waited = performance.now() - began
  for (const child of children) child.send('go')
  const ends = await Promise.all(children.map((child) => once(child, 'exit')))
  if (ends.some(([code]) => code !== 0) || ready.length !== hubs) throw new Error(`${name}: a hub failed`)
  const seconds = (performance.now() - began - waited) / 1000
  return `${name}: ${Math.round(lives / seconds)} lives/s (${lives} lives, ${agents} agents, rounds of up to ${most})`
}

async function open(where: string): Promise<HubLedger> {
  if (where.startsWith('sqlite ')) {
    const { fileHubLedger } = await import('../src/hub/ledgers/sqlite/hub-ledger.ts')
    return fileHubLedger(where.slice('sqlite '.length))
  }
  const { postgresAddress } = await import('../src/hub/ledgers/postgres/address.ts')
  const { postgresLedger } = await import('../src/hub/ledgers/postgres/postgres-ledger.ts')
  return postgresLedger(postgresAddress(where, { env: {} }))
}

async function hub(number: number, hubs: number, where: string): Promise<void> {
  const ledger = await open(where)
  const own = Array.from({ length: agents / hubs }, (_, n): Agent => ({ id: `agent-${number}-${n}`, step: 'idle' }))
  await ledger.round((round) =>
    round.write({
      ...nothing,
      agents: own.map(({ id }) => ({ agent: agentOf(id), heard: round.steady })),
      changes: own.map(({ id }) => ({ at: round.now, type: 'agent', agent: agentOf(id) })),
    }),
  )
  process.send!('ready')
  await once(process, 'message')
  const mine = lives / hubs
  let added = 0
  let over = 0
  // Two rounds at a time, as a hub that reads requests while a round is written.
  const busy = new Set<Agent>()
  const work = async () => {
    while (over < mine) {
      const some = own.filter((agent) => !busy.has(agent)).slice(0, most)
      for (const agent of some) busy.add(agent)
      const adds = Math.max(0, Math.min(most, mine - added, over + own.length * 2 - added))
      const ids = Array.from({ length: adds }, () => `t-${number}-${String(added++).padStart(8, '0')}`)
      const done = await ledger.round((round) => oneRound(round, some, ids))
      for (const [agent, next] of done.next) Object.assign(agent, next)
      over += done.over
      for (const agent of some) busy.delete(agent)
      // Tasks of one hub may be done by agents of another.
      if (hubs > 1 && done.over === 0 && adds === 0 && done.idle && (await isEmpty(ledger))) break
    }
  }
  await work()
  await ledger.close()
  process.exit(0)
}

async function isEmpty(ledger: HubLedger): Promise<boolean> {
  const counts = await ledger.look((look) => look.counts())
  const finished = counts.find(({ state }) => state === 'COMPLETED')?.count ?? 0
  return finished >= lives
}

async function oneRound(round: LedgerRound, some: readonly Agent[], ids: readonly string[]) {
  const working = some.filter(({ step }) => step !== 'idle')
  const idle = some.filter(({ step }) => step === 'idle')
  const rows = await round.tasks([...ids, ...working.map(({ task }) => task!)].sort())
  const byId = new Map(rows.map((row) => [row.task.id, row]))
  const agentRows = await round.agents(some.map(({ id }) => id).sort())
  const tasks = new Map<string, TaskRow>()
  const changes: NewChange[] = []
  const next = new Map<Agent, Partial<Agent>>()
  const put = (task: Task, ready = false) => {
    tasks.set(task.id, { task, touched: round.steady, ready })
    changes.push({ at: round.now, type: 'task', id: task.id, set: { state: task.state } })
  }
  let over = 0
  for (const id of ids) if (!byId.has(id)) put(taskOf(id, round.now), true)
  for (const agent of working) {
    const { task } = byId.get(agent.task!)!
    const moved = { ...task, moved: round.now, agent: agent.id, heard: round.now }
    if (agent.step === 'ack') {
      put({
        ...moved,
        state: 'ASSIGNED',
        history: [...task.history, { at: 1, state: 'ASSIGNED', by: agent.id }],
      } as Task)
      next.set(agent, { step: 'respond' })
    } else {
      over++
      put({ ...moved, state: 'COMPLETED', result: { message: 'done' } } as Task)
      next.set(agent, { step: 'idle' })
    }
  }
  if (idle.length > 0) {
    await round.write({ ...nothing, tasks: [...tasks.values()] })
    tasks.clear()
    const lapses = { wishedBefore: round.steady - 600_000, awayBefore: round.steady - 300_000 }
    const found = await round.claimable({
      agents: idle.map(({ id }) => id),
      stopped: [],
      except: [],
      ...lapses,
      most: idle.length,
    })
    const chosen = new Map<string, string>()
    for (const { task, agents: may } of found) {
      const agent = may.find((one) => !chosen.has(one))
      if (agent !== undefined) chosen.set(agent, task)
    }
    const free = new Map((await round.claim([...chosen.values()].sort())).map((row) => [row.task.id, row.task]))
    for (const agent of idle) {
      const task = free.get(chosen.get(agent.id) ?? '')
      if (task?.state !== 'QUEUED') continue
      put({ ...task, state: 'PENDING_ACK', agent: agent.id, moved: round.now } as unknown as Task)
      next.set(agent, { step: 'ack', task: task.id })
    }
  }
  const isIdle = next.size === 0
  if (changes.length > 0)
    await round.write({
      ...nothing,
      tasks: [...tasks.values()],
      agents: agentRows.map((row) => ({ ...row, heard: round.steady })),
      changes,
    })
  return { next, over, idle: isIdle }
}

const agentOf = (id: string): HubAgent => ({
  id,
  role: 'developer',
  capabilities: ['code'],
  workspace: 'w',
  source: 'CLI',
  registered: 1,
  seen: 1,
  inbox: [],
})

function taskOf(id: string, now: number): Task {
  return {
    id,
    prompt: `Change the module ${id} so that its tests pass, and say what you have changed. `.repeat(4),
    workspace: 'w',
    priority: 0,
    capabilities: ['code'],
    needs: [],
    state: 'QUEUED',
    created: now,
    moved: now,
    returns: 0,
    notes: [],
    history: [{ at: now, state: 'QUEUED', by: 'me' }],
  }
}

const [, , role, at, count, place] = process.argv
if (role === 'hub') await hub(Number(at), Number(count), place!)
else await compare()
