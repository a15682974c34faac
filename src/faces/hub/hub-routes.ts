import type { Clock } from '../../base/clock.ts'
import type { Parser } from '../../core/work/shape.ts'
import type { Task } from '../../core/work/task.ts'
import type { Hub } from '../../hub/hub.ts'
import type { HubRoute, RoutedRequest } from './hub-router.ts'
import { defined } from '../../base/defined.ts'
import { anything, integer, list, number, oneOf, optional, parser, string } from '../../core/work/shape.ts'
import { checkTicket, taskIdOf, ticketOf } from '../../hub/task-rules.ts'
import { readBody } from './hub-router.ts'

const text = string({ min: 1 })
const anyBody: Parser<unknown> = { schema: {}, parse: (body) => body }

/** The longest that one request waits. */
const longestSeconds = 290

/**
 * The hub over HTTP: each row is one route with its path, the fields of its body and what it does.
 * `by` is the person at the other end. The stream `/api/events` is answered by the server itself.
 */
export function hubRoutes(hub: Hub, clock: Clock, by = 'user'): HubRoute[] {
  const until = (seconds = longestSeconds) => clock.now() + Math.min(seconds, longestSeconds) * 1000
  /** The task of an id or of a ticket; throws where the ticket is no longer the holder's. */
  const task = (id: string) => {
    const found = hub.task(taskIdOf(id))
    checkTicket(id, found)
    return found.id
  }
  const get = (path: string, answer: HubRoute['answer']): HubRoute => ({
    method: 'GET',
    path,
    answer: async (request) => {
      // Nobody is shown a change that could still be lost.
      await hub.kept()
      return answer(request)
    },
  })
  return [
    get('/api/state', async () => ({ seq: hub.seq, agents: agents(hub), tasks: hub.tasks() })),
    get('/api/agents', async () => agents(hub)),
    get('/api/agents/:id', async ({ id }) => agentOf(hub, id)),
    post(
      '/api/agents',
      parser({
        id: text,
        role: text,
        name: optional(text),
        capabilities: optional(list(text)),
        workspace: text,
        source: optional(oneOf('CLI', 'IDE')),
      }),
      async ({ capabilities = [], source = 'CLI', ...rest }) => hub.register({ ...rest, capabilities, source }),
    ),
    post('/api/agents/:id/wait', parser({ timeout: optional(number(0)) }), async ({ timeout }, { id, signal }) => {
      const given = await hub.wait(id, until(timeout), signal)
      return given.type === 'task' ? { ...given, ticket: ticketOf(given.task) } : given
    }),
    post('/api/agents/:id/evict', parser({ why: optional(text) }), async ({ why = 'sent away' }, { id }) => {
      await hub.evict(id, why)
      return {}
    }),
    post(
      '/api/agents/:id/spent',
      parser({ tokens: integer(0), cost: optional(number(0)), priced: optional(integer(0)) }),
      async (spent, { id }) => {
        await hub.spent(id, spent)
        return {}
      },
    ),
    get('/api/tasks', async ({ query }) => hub.tasks().filter((each) => matches(each, query))),
    post(
      '/api/tasks',
      parser({
        id: optional(text),
        prompt: text,
        workspace: text,
        wish: optional(text),
        capabilities: optional(list(text)),
        priority: optional(integer(-100, 100)),
        needs: optional(list(text)),
      }),
      async (fields) => hub.add({ ...fields, by }),
    ),
    get('/api/tasks/:id', async ({ id }) => hub.task(taskIdOf(id))),
    get('/api/tasks/:id/wait', async ({ id, query, signal }) => {
      const seconds = Number(query.get('timeout') ?? longestSeconds)
      return hub.settled(taskIdOf(id), until(Number.isFinite(seconds) ? seconds : undefined), signal)
    }),
    post('/api/tasks/:id/ack', parser({ agent: text }), async ({ agent }, { id }) => hub.ack(task(id), agent)),
    post(
      '/api/tasks/:id/progress',
      parser({ agent: optional(text), message: text, percentage: optional(integer(0, 100)) }),
      async ({ agent, message, percentage }, { id }) => hub.progress(task(id), agent, message, percentage),
    ),
    post(
      '/api/tasks/:id/block',
      parser({ agent: optional(text), reason: text, question: text }),
      async ({ agent, reason, question }, { id }) => hub.block(task(id), agent, reason, question),
    ),
    post(
      '/api/tasks/:id/respond',
      parser({
        agent: optional(text),
        status: oneOf('COMPLETED', 'FAILED', 'BLOCKED', 'IN_REVIEW'),
        message: text,
        artifacts: optional(list(anything())),
        diff: optional(string()),
      }),
      async ({ agent, ...result }, { id }) => hub.respond(task(id), agent, result),
    ),
    post('/api/tasks/:id/answer', parser({ text }), async (said, { id }) => hub.answer(task(id), said.text, by)),
    post('/api/tasks/:id/reject', parser({ text }), async (said, { id }) => hub.reject(task(id), said.text, by)),
    post('/api/tasks/:id/comment', parser({ text }), async (said, { id }) => hub.comment(task(id), said.text, by)),
    post('/api/tasks/:id/cancel', parser({ why: optional(text) }), async ({ why }, { id }) =>
      hub.cancel(task(id), by, why),
    ),
    post('/api/tasks/:id/retry', anyBody, async (_, { id }) => hub.retry(task(id), by)),
    post('/api/tasks/:id/approve', anyBody, async (_, { id }) => hub.approve(task(id), by)),
    post('/api/broadcast', parser({ text, workspace: optional(text) }), async (said) => ({
      told: await hub.broadcast(said.text, said.workspace),
    })),
  ]
}

function post<T>(
  path: string,
  body: Parser<T>,
  answer: (fields: T, request: RoutedRequest) => Promise<unknown>,
): HubRoute {
  return { method: 'POST', path, answer: async (request) => answer(readBody(body, request.body), request) }
}

function agents(hub: Hub) {
  return hub.agents().map(({ id }) => agentOf(hub, id))
}

function agentOf(hub: Hub, id: string) {
  const { waits, about, task } = hub.standing(id)
  return defined({ ...hub.agent(id), waits, about, task: task?.id })
}

function matches({ state, workspace, agent }: Task, query: URLSearchParams): boolean {
  const fields = { state, workspace, agent: agent ?? '' }
  return Object.entries(fields).every(([key, value]) => (query.get(key) ?? value) === value)
}
