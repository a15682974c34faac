import type { Clock } from '../../base/clock.ts'
import type { Task } from '../../core/work/task.ts'
import type { Hub } from '../../hub/hub.ts'
import type { HubRoute } from './hub-router.ts'
import { anything, integer, list, number, oneOf, optional, parser, string } from '../../core/work/shape.ts'
import { checkTicket, taskIdOf, ticketOf } from '../../hub/task-rules.ts'
import { readBody } from './hub-router.ts'

const words = string({ min: 1 })
const agent = parser({
  id: words,
  role: words,
  name: optional(words),
  capabilities: optional(list(words)),
  workspace: words,
  source: optional(oneOf('CLI', 'IDE')),
})
const task = parser({
  id: optional(words),
  prompt: words,
  workspace: words,
  wish: optional(words),
  capabilities: optional(list(words)),
  priority: optional(integer(-100, 100)),
  needs: optional(list(words)),
})
const response = parser({
  agent: optional(words),
  status: oneOf('COMPLETED', 'FAILED', 'BLOCKED', 'IN_REVIEW'),
  message: words,
  artifacts: optional(list(anything())),
  diff: optional(string()),
})
const held = parser({ agent: words })
const progress = parser({ agent: optional(words), message: words, percentage: optional(integer(0, 100)) })
const block = parser({ agent: optional(words), reason: words, question: words })
const said = parser({ text: words })
const why = parser({ why: optional(words) })
const wait = parser({ timeout: optional(number(0)) })
const broadcast = parser({ text: words, workspace: optional(words) })
const spent = parser({ tokens: integer(0), cost: optional(number(0)), priced: optional(integer(0)) })

/** The longest that one request waits. */
const longestSeconds = 290

/** The hub over HTTP: what can be asked, one row each. A person at the other end is `by`. */
export function hubRoutes(hub: Hub, clock: Clock, by = 'user'): HubRoute[] {
  const until = (seconds = longestSeconds) => clock.now() + Math.min(seconds, longestSeconds) * 1000
  const of = (id: string) => {
    const found = hub.task(taskIdOf(id))
    checkTicket(id, found)
    return found.id
  }
  const route = (method: string) => (path: string, answer: HubRoute['answer']) => ({
    method,
    path: path.split('/'),
    answer,
  })
  const post = route('POST')
  const get = (path: string, answer: HubRoute['answer']) =>
    route('GET')(path, async (asked, parts) => {
      await hub.kept()
      return answer(asked, parts)
    })
  return [
    get('/api/state', async () => ({ seq: hub.seq, agents: agents(hub), tasks: hub.tasks() })),
    get('/api/agents', async () => agents(hub)),
    get('/api/agents/:id', async (_, { id }) => agentOf(hub, id!)),
    post('/api/agents', async ({ body }) => {
      const { capabilities = [], source = 'CLI', ...rest } = readBody(agent, body)
      return hub.register({ ...rest, capabilities, source })
    }),
    post('/api/agents/:id/wait', async ({ body, signal }, { id }) => {
      const given = await hub.wait(id!, until(readBody(wait, body).timeout), signal)
      return given.type === 'task' ? { ...given, ticket: ticketOf(given.task) } : given
    }),
    post('/api/agents/:id/evict', async ({ body }, { id }) => {
      await hub.evict(id!, readBody(why, body).why ?? 'sent away')
      return {}
    }),
    post('/api/agents/:id/spent', async ({ body }, { id }) => {
      await hub.spent(id!, readBody(spent, body))
      return {}
    }),
    get('/api/tasks', async ({ query }) => hub.tasks().filter((each) => isWanted(each, query))),
    post('/api/tasks', async ({ body }) => hub.add({ ...readBody(task, body), by })),
    get('/api/tasks/:id', async (_, { id }) => hub.task(taskIdOf(id!))),
    get('/api/tasks/:id/wait', async ({ query, signal }, { id }) => {
      const seconds = Number(query.get('timeout') ?? longestSeconds)
      return hub.settled(taskIdOf(id!), until(Number.isFinite(seconds) ? seconds : undefined), signal)
    }),
    post('/api/tasks/:id/ack', async ({ body }, { id }) => hub.ack(of(id!), readBody(held, body).agent)),
    post('/api/tasks/:id/progress', async ({ body }, { id }) => {
      const { agent, message, percentage } = readBody(progress, body)
      return hub.progress(of(id!), agent, message, percentage)
    }),
    post('/api/tasks/:id/block', async ({ body }, { id }) => {
      const { agent, reason, question } = readBody(block, body)
      return hub.block(of(id!), agent, reason, question)
    }),
    post('/api/tasks/:id/respond', async ({ body }, { id }) => {
      const { agent, ...rest } = readBody(response, body)
      return hub.respond(of(id!), agent, rest)
    }),
    post('/api/tasks/:id/answer', async ({ body }, { id }) => hub.answer(of(id!), readBody(said, body).text, by)),
    post('/api/tasks/:id/reject', async ({ body }, { id }) => hub.reject(of(id!), readBody(said, body).text, by)),
    post('/api/tasks/:id/comment', async ({ body }, { id }) => hub.comment(of(id!), readBody(said, body).text, by)),
    post('/api/tasks/:id/cancel', async ({ body }, { id }) => hub.cancel(of(id!), by, readBody(why, body).why)),
    post('/api/tasks/:id/retry', async (_, { id }) => hub.retry(of(id!), by)),
    post('/api/tasks/:id/approve', async (_, { id }) => hub.approve(of(id!), by)),
    post('/api/broadcast', async ({ body }) => {
      const { text, workspace } = readBody(broadcast, body)
      return { told: await hub.broadcast(text, workspace) }
    }),
  ]
}

function agents(hub: Hub) {
  return hub.agents().map(({ id }) => agentOf(hub, id))
}

function agentOf(hub: Hub, id: string) {
  const { waits, about, task } = hub.standing(id)
  return { ...hub.agent(id), waits, about, task: task?.id }
}

function isWanted({ state, workspace, agent }: Task, query: URLSearchParams): boolean {
  const wanted = { state, workspace, agent: agent ?? '' }
  return Object.entries(wanted).every(([key, value]) => (query.get(key) ?? value) === value)
}
