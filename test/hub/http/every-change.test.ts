import type { HubLedger } from '../../../src/hub/model/hub-ledger.ts'
import type { SignIn } from '../../../src/hub/model/access/sign-in.ts'
import type { MachineParts } from '../../../src/hub/http/routes/machine-routes.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { realClock } from '../../../src/base/time/clock.ts'
import { isDoneOnce } from '../../../src/hub/model/operations/operation.ts'
import { Hub } from '../../../src/hub/engine/hub.ts'
import { postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { fileHubLedger } from '../../../src/hub/ledgers/sqlite/hub-ledger.ts'
import { sharedPostgres, skipWithoutPostgres } from '../../postgres.ts'
import { tempFolder } from '../../store/temp.ts'
import { servedHub } from './hub-house.ts'

type Answer = { status: number; body: any }

/** The calls that reached a machine, which counts them. A turn takes each of them once, and a machine is forgotten once. */
function countingMachine(): { machine: MachineParts; calls: string[] } {
  const calls: string[] = []
  const first = (call: string) => calls.push(call) === calls.indexOf(call) + 1
  const machine: MachineParts = {
    turns: {
      async *follow() {},
      rows: () => [],
      async *watch() {},
      answer: async (turn) => first(`answer ${turn}`),
      steer: async (turn, text) => first(`steer ${turn}: ${text}`),
      cancel: async (turn) => first(`cancel ${turn}`),
    },
    prompts: {
      rules: async () => ({ allowed: true, agents: [] }),
      send: async ({ text }) => ({ session: `${text} ${calls.push(`prompt ${text}`)}` }),
    },
    machines: { standings: () => [], listen: () => () => {}, forget: async (name) => first(`forget ${name}`) },
  }
  return { machine, calls }
}

/** Hubs over one ledger, each behind a door of its own. */
async function opened(t: TestContext, ledgers: readonly HubLedger[]) {
  const { machine, calls } = countingMachine()
  const clock = realClock
  const hubs = ledgers.map((ledger) => new Hub({ ledger, clock, published() {}, caps: { day: { tokens: 10 } } }))
  const stop = new AbortController()
  const running = hubs.map((hub) => hub.run(stop.signal))
  const served = await Promise.all(hubs.map((hub, at) => servedHub({ hub, ledger: ledgers[at]!, clock, machine })))
  t.after(async () => {
    for (const { at } of served) await at.close()
    stop.abort()
    await Promise.all(running)
    for (const ledger of ledgers) await ledger.close()
  })
  const send = async (door: number, path: string, body: object, key?: string): Promise<Answer> => {
    const answer = await fetch(`${served[door % served.length]!.at.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer the-key',
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: await answer.json() }
  }
  return { hub: hubs[0]!, ledger: ledgers[0]!, routes: served[0]!.routes, send, calls }
}

type World = Awaited<ReturnType<typeof opened>>

/** What a change is about: `:id` and `:number` of its path, and its body where that depends on the state. */
type Subject = { id?: string; number?: string; body?: object }

/** One change; `before` makes the state that the change needs. */
type Change = { body?: object; before?(world: World, at: number): Promise<Subject | string | void> }

const agentBody = (id: string) => ({ id, role: 'r', workspace: `place of ${id}`, machine: 'm' })

/** Registers an agent with a task that it has acknowledged, and returns the ticket. */
async function working(world: World, at: number): Promise<string> {
  const agent = `agent-${at}`
  await world.send(0, '/api/agents', agentBody(agent))
  await world.send(0, '/api/tasks', { id: `task-of-${at}`, prompt: 'x', workspace: `place of ${agent}` })
  const { body } = await world.send(0, `/api/agents/${agent}/wait`, { timeout: 20 })
  assert.equal((await world.send(0, `/api/tasks/${body.ticket}/ack`, { agent })).status, 200)
  return body.ticket
}

const registered = async (world: World, at: number) => {
  await world.send(0, '/api/agents', agentBody(`agent-${at}`))
  return `agent-${at}`
}

const asking = async (world: World, at: number) => {
  const id = await registered(world, at)
  await world.send(0, `/api/agents/${id}/ask`, { id: 'q1', text: 'which?', options: [{ id: 'one', label: 'One' }] })
  return id
}

const added = async ({ send }: World) => (await send(0, '/api/tasks', { prompt: 'x', workspace: 'w' })).body.id

const inReview = async (world: World, at: number) => {
  const ticket = await working(world, at)
  const body = { agent: `agent-${at}`, status: 'IN_REVIEW', message: 'look' }
  assert.equal((await world.send(0, `/api/tasks/${ticket}/respond`, body)).status, 200)
  return ticket.split('.')[0]!
}

const commented = async (world: World, at: number) => {
  const ticket = await working(world, at)
  const diff = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n'
  const answer = { agent: `agent-${at}`, status: 'IN_REVIEW', message: 'look', diff: `diff --git a/x b/x\n${diff}` }
  await world.send(0, `/api/tasks/${ticket}/respond`, answer)
  const id = ticket.split('.')[0]!
  const place = { try: 1, path: 'x', line: 1, side: 'new' }
  const { status, body } = await world.send(0, `/api/tasks/${id}/comment`, { text: 'why?', at: place })
  assert.equal(status, 200, JSON.stringify(body))
  return { id, number: String(body.notes.at(-1).number) }
}

const blocked = async (world: World, at: number) => {
  const ticket = await working(world, at)
  await world.send(0, `/api/tasks/${ticket}/block`, { agent: `agent-${at}`, reason: 'unclear', question: 'which?' })
  return ticket.split('.')[0]!
}

const cancelledTask = async (world: World) => {
  const id = await added(world)
  await world.send(0, `/api/tasks/${id}/cancel`, {})
  return id
}

const plan = 'name: nightly\ntasks:\n  - name: one\n    prompt: do it\n'

const pipelineOf = async ({ send }: World, at: number) => {
  const id = `pipeline-${at}`
  const { status, body } = await send(0, '/api/pipelines', { id, plan, file: 'plan.yaml', workspace: 'w' })
  assert.equal(status, 200, JSON.stringify(body))
  return id
}

const scheduleOf = async ({ send }: World, at: number) => {
  const id = `schedule-${at}`
  const timed = `schedule: "0 3 * * *"\n${plan.replace('nightly', `nightly ${at}`)}`
  const { status, body } = await send(0, '/api/pipelines', { id, plan: timed, file: 'plan.yaml', workspace: 'w' })
  assert.equal(status, 200, JSON.stringify(body))
  return body.schedule.id
}

const cancelledPipeline = async (world: World, at: number) => {
  const id = await pipelineOf(world, at)
  await world.send(0, `/api/pipelines/${id}/cancel`, {})
  return id
}

const askingPipeline = async (world: World, at: number) => {
  const ticket = await working(world, at)
  const capped = 'name: dear\nbudget: { tokens: 5 }\ntasks: [{ name: a, prompt: p }, { name: b, prompt: q }]'
  const id = `pipeline-${at}`
  await world.send(0, `/api/tasks/${ticket}/respond`, { agent: `agent-${at}`, status: 'COMPLETED', message: 'done' })
  const workspace = `place of agent-${at}`
  const { status, body } = await world.send(0, '/api/pipelines', { id, plan: capped, file: 'plan.yaml', workspace })
  assert.equal(status, 200, JSON.stringify(body))
  const given = await world.send(0, `/api/agents/agent-${at}/wait`, { timeout: 20 })
  await world.send(0, `/api/tasks/${given.body.ticket}/ack`, { agent: `agent-${at}` })
  await world.send(0, `/api/agents/agent-${at}/spent`, { tokens: 7 })
  return id
}

const keyOf = async ({ send }: World, at: number) => {
  const { status, body } = await send(0, '/api/keys', { name: `client-${at}`, role: 'agent' })
  assert.equal(status, 200, JSON.stringify(body))
  return `client-${at}`
}

const signedIn = async ({ ledger }: World, at: number) => {
  const rights = { name: 'user', role: 'member', key: 'own', made: 1 } as const
  const link = { ...rights, id: `link-${at}`, hash: 'h', once: false, ends: realClock.now() + 60_000 }
  await ledger.signIns.putLink(link, 9)
  const signIn: SignIn = { ...rights, id: `in-${at}`, link: link.id, browser: 'b', cookieHash: `c${at}`, pageHash: 'p' }
  assert.equal(await ledger.signIns.put(signIn), true)
  return signIn.id
}

/** Every change that a client may ask for with a key of its own for the request. */
const changes: Record<string, Change> = {
  '/api/agents/:id/evict': { before: registered },
  '/api/agents/:id/stop': {
    before: async (world, at) => {
      await working(world, at)
      return `agent-${at}`
    },
  },
  '/api/agents/:id/message': { before: registered, body: { text: 'hello' } },
  '/api/agents/:id/answer': { before: asking, body: { picks: ['one'] } },
  '/api/agents/:id/pause': { before: registered },
  '/api/agents/:id/resume': {
    before: async (world, at) => {
      const id = await registered(world, at)
      await world.send(0, `/api/agents/${id}/pause`, {})
      return id
    },
  },
  '/api/broadcast': { before: registered, body: { text: 'to all' } },
  '/api/tasks': { body: { prompt: 'once', workspace: 'w' } },
  '/api/tasks/:id/checks': { before: inReview, body: { checks: [{ command: 'npm test', exit: 0, output: 'ok' }] } },
  '/api/tasks/:id/answer': { before: blocked, body: { picks: ['that'] } },
  '/api/tasks/:id/reject': { before: inReview, body: { text: 'again', try: 1 } },
  '/api/tasks/:id/approve': { before: inReview, body: { try: 1 } },
  '/api/tasks/:id/comment': { before: added, body: { text: 'hello' } },
  '/api/tasks/:id/comments/:number/resolve': { before: commented },
  '/api/tasks/:id/looked': { before: inReview, body: { try: 1 } },
  '/api/tasks/:id/cancel': { before: added },
  '/api/tasks/:id/redirect': { before: added, body: { priority: 7 } },
  '/api/tasks/:id/retry': { before: cancelledTask },
  '/api/pipelines': { body: { id: 'pipeline-once', plan, file: 'plan.yaml', workspace: 'w' } },
  '/api/pipelines/:id/cancel': { before: pipelineOf },
  '/api/pipelines/:id/retry': { before: cancelledPipeline },
  '/api/pipelines/:id/pause': { before: pipelineOf },
  '/api/pipelines/:id/resume': {
    before: async (world, at) => {
      const id = await pipelineOf(world, at)
      await world.send(0, `/api/pipelines/${id}/pause`, {})
      return id
    },
  },
  '/api/pipelines/:id/answer': { before: askingPipeline, body: { picks: ['again'] } },
  '/api/schedules/:id/pause': { before: scheduleOf },
  '/api/schedules/:id/resume': { before: scheduleOf },
  '/api/schedules/:id/remove': { before: scheduleOf },
  '/api/inbox/mark': {
    before: async (world, at) => {
      const task = await inReview(world, at)
      const row = (await world.hub.inbox.rows('user')).find((each) => each.task === task)
      return { body: { item: row!.id, done: true } }
    },
  },
  '/api/days/answer': {
    before: async (world, at) => {
      await working(world, at)
      await world.send(0, `/api/agents/agent-${at}/spent`, { tokens: 20 })
      return { body: { workspace: `place of agent-${at}`, picks: ['again'] } }
    },
  },
  '/api/lent-keys': { body: { name: 'lent' } },
  '/api/links': { body: { role: 'observer' } },
  '/api/sign-ins/:id/end': { before: signedIn },
  '/api/keys': { body: { name: 'made-once', role: 'agent' } },
  '/api/keys/:id/rotate': { before: keyOf },
  '/api/keys/:id/revoke': { before: keyOf },
  '/api/invites': { body: { name: 'invited' } },
  '/api/machines/:id/forget': { before: async () => 'm-gone' },
  '/api/machines/:id/pause': { before: async () => 'm1' },
  '/api/machines/:id/resume': {
    before: async ({ send }) => {
      await send(0, '/api/machines/m2/pause', {})
      return 'm2'
    },
  },
  '/api/machines/:id/rules': { before: async () => 'm3', body: { limit: 2 } },
  '/api/turns/:id/answer': { before: async () => 'turn-1', body: { ask: 'q' } },
  '/api/turns/:id/steer': { before: async () => 'turn-1', body: { text: 'left' } },
  '/api/turns/:id/cancel': { before: async () => 'turn-1' },
  '/api/prompts': { body: { text: 'hello', project: 'p' } },
  '/api/hub/pause': {},
  '/api/hub/resume': {
    before: async ({ send }) => {
      await send(0, '/api/hub/pause', {})
    },
  },
  '/api/hub/copy': {},
  '/api/retention/prune': { body: { keptMs: 0 } },
}

/** Everything that a change leaves: the number of the newest change, keys, invitations, links, sign-ins and calls to machines. */
async function leftBy({ ledger, calls }: World) {
  return {
    seq: await ledger.look(async ({ seq }) => seq),
    keys: await ledger.keys.all(),
    invites: await ledger.invites.all(),
    links: await ledger.signIns.links(),
    signIns: await ledger.signIns.all(),
    calls: [...calls],
  }
}

/** The caller’s own key ends with this request, so that the hub does not know the caller when it comes again. */
const endsItsCaller = ['/api/me/end']

const ledgers = [
  {
    name: 'one hub with a file',
    skip: false as const,
    open: async (t: TestContext) => [fileHubLedger(join(tempFolder(t), 'hub.db'))],
  },
  {
    name: 'two hubs with one database',
    skip: skipWithoutPostgres,
    open: async () => {
      const address = postgresAddress(await (await sharedPostgres()).database(), { env: {} })
      return [await postgresLedger(address), await postgresLedger(address)]
    },
  },
]

for (const { name, skip, open } of ledgers) {
  test(
    `every change with a key is made once and answered the same, at ${name}`,
    { skip, timeout: 300_000 },
    async (t) => {
      const world = await opened(t, await open(t))
      const kept = world.routes.filter(({ name, operation }) => isDoneOnce(name, operation)).map(({ path }) => path)
      assert.deepEqual([...Object.keys(changes), ...endsItsCaller].toSorted(), kept.toSorted())
      for (const [at, [path, { before, body }]] of Object.entries(changes).entries()) {
        const made = (await before?.(world, at)) ?? {}
        const subject: Subject = typeof made === 'string' ? { id: made } : made
        const real = path.replace(':id', subject.id ?? '').replace(':number', subject.number ?? '')
        const send = (door: number) => world.send(door, real, subject.body ?? body ?? {}, `key-of-${at}`)
        const first = await send(0)
        const left = await leftBy(world)
        const again = [await send(0), await send(1)]
        assert.deepEqual([again, await leftBy(world)], [[first, first], left], path)
        const isRefused = path === '/api/hub/copy' && world.ledger.isShared
        assert.equal(first.status, isRefused ? 400 : 200, `${path}: ${JSON.stringify(first.body)}`)
      }
    },
  )
}
