import { test } from 'node:test'
import assert from 'node:assert/strict'
import { sized } from '../../full.ts'
import fc from '../../cases.ts'
import type { Task, TaskState } from '../../../src/hub/model/tasks/task.ts'
import { parseTask } from '../../../src/hub/model/tasks/task.ts'
import { HandClock, settled } from '../../hand-clock.ts'
import { defined } from '../../../src/base/defined.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { fits } from '../../../src/hub/model/tasks/task-wait.ts'
import { HubError } from '../../../src/hub/engine/rules/task-rules.ts'
import { memoryHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { loaded, noticed } from './seat.ts'

const afterWork: TaskState[] = ['QUEUED', 'BLOCKED', 'IN_REVIEW', 'COMPLETED', 'FAILED', 'CANCELLED']

/** The states that may follow each state. */
const moves: Readonly<Record<TaskState, readonly TaskState[]>> = {
  QUEUED: ['PENDING_ACK', 'FAILED', 'CANCELLED'],
  PENDING_ACK: ['ASSIGNED', 'QUEUED', 'FAILED', 'CANCELLED'],
  ASSIGNED: ['IN_PROGRESS', ...afterWork],
  IN_PROGRESS: afterWork,
  BLOCKED: ['QUEUED', 'CANCELLED'],
  IN_REVIEW: ['APPROVED', 'QUEUED', 'CANCELLED'],
  APPROVED: [],
  COMPLETED: [],
  FAILED: ['QUEUED'],
  CANCELLED: ['QUEUED'],
}

const agents = ['a', 'b', 'c']
const able: Record<string, string[]> = { a: [], b: ['x'], c: ['x', 'y'] }

type Deed =
  | { do: 'add'; capability: string | undefined; need: boolean; wish: string | undefined; priority: number }
  | {
      do: 'wait' | 'drop' | 'ack' | 'progress' | 'complete' | 'fail' | 'block' | 'review' | 'evict'
      agent: string
      stale: boolean
    }
  | { do: 'answer' | 'cancel' | 'retry' | 'approve' | 'reject'; pick: number }
  | { do: 'turn'; ms: number }
  | { do: 'restart' }

const agent = fc.constantFrom(...agents)
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    capability: fc.constantFrom(undefined, 'x', 'y'),
    need: fc.boolean(),
    wish: fc.option(agent, { nil: undefined }),
    priority: fc.integer({ min: 0, max: 2 }),
  }),
  fc.record({
    do: fc.constantFrom(
      'wait',
      'wait',
      'wait',
      'drop',
      'ack',
      'ack',
      'progress',
      'complete',
      'complete',
      'fail',
      'block',
      'review',
      'evict',
    ),
    agent,
    stale: fc.boolean(),
  }) as fc.Arbitrary<Deed>,
  fc.record({
    do: fc.constantFrom('answer', 'cancel', 'retry', 'approve', 'reject'),
    pick: fc.nat(50),
  }) as fc.Arbitrary<Deed>,
  fc.record({ do: fc.constant('turn' as const), ms: fc.constantFrom(1, 10_000, 30_000, 600_000, 1_800_000) }),
  fc.constant<Deed>({ do: 'restart' }),
)

/** Agents as the outside sees them: which connections wait, and what each was last given. */
class Outside {
  clock = new HandClock()
  ledger = memoryHubLedger({ clock: this.clock })
  connections = new Map<string, AbortController>()
  /** Every task that an agent was ever given, newest last. */
  given = new Map<string, string[]>(agents.map((id) => [id, []]))
  /** Whom a task was given to while it had not come back. */
  holders = new Map<string, Set<string>>()
  hub!: Hub
  stop!: AbortController

  async start() {
    for (const connection of this.connections.values()) connection.abort()
    this.connections.clear()
    this.stop?.abort()
    await settled()
    this.hub = new Hub({ ledger: this.ledger, clock: this.clock, published: () => {} })
    this.stop = new AbortController()
    void this.hub.run(this.stop.signal)
    for (const id of agents) await this.register(id)
  }

  register(id: string) {
    return this.hub.register({ id, role: 'r', capabilities: able[id]!, workspace: 'w', source: 'CLI' })
  }

  wait(id: string) {
    const connection = new AbortController()
    this.connections.set(id, connection)
    void this.hub.wait(id, this.clock.elapsed() + 290_000, connection.signal).then(
      (given) => {
        if (this.connections.get(id) === connection) this.connections.delete(id)
        if (given.type !== 'task') return
        assert.equal(connection.signal.aborted, false, 'a task was given to a connection that was gone')
        assert.deepEqual([given.task.state, given.task.agent], ['PENDING_ACK', id])
        this.given.get(id)!.push(given.task.id)
      },
      () => this.connections.delete(id),
    )
  }

  async act(deed: Deed): Promise<void> {
    const { hub } = this
    switch (deed.do) {
      case 'add': {
        const known = (await hub.tasks()).at(-1)?.id
        await hub.add({
          prompt: 'p',
          workspace: 'w',
          by: 'me',
          priority: deed.priority,
          ...(deed.capability ? { capabilities: [deed.capability] } : {}),
          ...(deed.wish ? { wish: deed.wish } : {}),
          ...(deed.need && known ? { needs: [known] } : {}),
        })
        return
      }
      case 'wait':
        if (!(await hub.agents()).some(({ id }) => id === deed.agent)) await this.register(deed.agent)
        return this.wait(deed.agent)
      case 'drop':
        return this.connections.get(deed.agent)?.abort()
      case 'turn':
        return this.clock.turn(deed.ms)
      case 'restart':
        return this.start()
      case 'evict':
        return hub.orders.evict(deed.agent, 'go')
      case 'answer':
      case 'cancel':
      case 'retry':
      case 'approve':
      case 'reject': {
        const id = (await hub.tasks())[deed.pick % Math.max(1, (await hub.tasks()).length)]?.id ?? 'none'
        const seen = defined({
          try: (await hub.tasks()).find((task) => task.id === id)?.tries?.at(-1)?.number,
        })
        if (deed.do === 'answer') await hub.questions.answer(id, ['words'], 'me')
        else if (deed.do === 'reject') await hub.reviews.reject(id, 'me', { text: 'words', ...seen })
        else if (deed.do === 'approve') await hub.reviews.approve(id, 'me', seen)
        else await hub[deed.do](id, 'me')
        return
      }
      default: {
        const all = this.given.get(deed.agent)!
        const id = (deed.stale ? all[0] : all.at(-1)) ?? 'none'
        if (deed.do === 'ack') await hub.work.ack(id, deed.agent)
        else if (deed.do === 'progress') await hub.work.progress(id, deed.agent, 'on it')
        else if (deed.do === 'block') await hub.work.block(id, deed.agent, 'why', 'what?')
        else {
          const status = { complete: 'COMPLETED', fail: 'FAILED', review: 'IN_REVIEW' } as const
          await hub.work.respond(id, deed.agent, { status: status[deed.do], message: 'm' })
        }
      }
    }
  }

  async check() {
    const tasks = await this.hub.tasks()
    const held = tasks.filter(({ state }) => ['PENDING_ACK', 'ASSIGNED', 'IN_PROGRESS'].includes(state))
    assert.equal(new Set(held.map(({ agent }) => agent)).size, held.length, 'one agent has two tasks')
    for (const task of tasks) {
      const { history, state } = task
      assert.deepEqual(parseTask(JSON.parse(JSON.stringify(task))), task, 'a fact of its state is missing')
      assert.equal(history.at(-1)!.state, state)
      history.slice(1).forEach((step, at) => assert.ok(moves[history[at]!.state].includes(step.state)))
      const ended = history.filter((step) => step.state === 'COMPLETED' || step.state === 'APPROVED')
      assert.ok(ended.length <= 1, 'it ended twice')
    }
    for (const task of held)
      if (task.state === 'PENDING_ACK') assert.ok(this.clock.now() - task.moved < 30_000, 'unacknowledged too long')
    await this.#nobodyWaitsInVain(tasks)
    const kept = await loaded(this.ledger)
    assert.deepEqual([kept.tasks.toSorted(byId), kept.seq], [tasks.toSorted(byId), (await this.hub.state()).seq])
  }

  async #nobodyWaitsInVain(tasks: Task[]) {
    const byId = new Map(tasks.map((task) => [task.id, task]))
    const done = (id: string) => ['COMPLETED', 'APPROVED'].includes(byId.get(id)!.state)
    for (const [id, connection] of this.connections) {
      if (connection.signal.aborted) continue
      const agent = await this.hub.agentNow(id)
      if (!agent.waits) continue
      const missed = tasks.find(
        (task) =>
          task.state === 'QUEUED' &&
          fits(task, agent) &&
          (task.wish === undefined || task.wish === id) &&
          task.needs.every(done),
      )
      assert.equal(missed, undefined, `${id} waits, and nobody gave it a task that fits`)
    }
  }
}

const byId = (a: Task, b: Task) => (a.id < b.id ? -1 : 1)

test('property: with any acts of agents, people, time and restarts, each task has one holder and one history, and no agent waits in vain', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 60 }), async (deeds) => {
      const outside = new Outside()
      await outside.start()
      for (const deed of deeds) {
        await outside.act(deed).catch((error: unknown) => assert.ok(error instanceof HubError, String(error)))
        await noticed()
        await outside.check()
      }
      outside.stop.abort()
    }),
    { numRuns: sized(60, 500) },
  )
})
