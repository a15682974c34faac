import type { Clock } from '../../base/clock.ts'
import type { Parser } from '../../core/work/shape.ts'
import type { Task } from '../../core/work/task.ts'
import type { HubKeys } from '../../hub/hub-keys.ts'
import type { Conversations } from '../../core/talk/conversations.ts'
import type { MachineTurns } from '../../core/talk/machine-turns.ts'
import type { HubOperation } from '../../hub/hub-roles.ts'
import type { Hub } from '../../hub/hub.ts'
import type { SignIns } from '../../hub/sign-ins.ts'
import type { HubRoute, RoutedRequest } from './hub-router.ts'
import { hubRoles } from '../../core/work/hub-key.ts'
import { usageGroups } from '../../core/talk/conversations.ts'
import { linkRoles } from '../../core/work/sign-in.ts'
import { defined } from '../../base/defined.ts'
import {
  anything,
  boolean,
  integer,
  list,
  number,
  object,
  oneOf,
  optional,
  parser,
  string,
} from '../../core/work/shape.ts'
import { agentOf } from '../../hub/hub-roles.ts'
import { HubError, checkTicket, taskIdOf, ticketOf } from '../../hub/task-rules.ts'
import { readBody } from './hub-router.ts'

const text = string({ min: 1 })
const anyBody: Parser<unknown> = { schema: {}, parse: (body) => body }

/** The longest that one request waits. */
const longestSeconds = 290

/** The turns and the conversations of the machine on which the hub runs. */
export type MachineParts = { turns?: MachineTurns; conversations?: Conversations }

/** The most messages of a conversation in one answer. */
const longestPage = 200

/** The clients that the hub lets in: those with a key, and browsers. */
export type HubDoors = { keys: HubKeys; signIns: SignIns }

/**
 * The hub over HTTP: each row is one route with its path, its operation, the fields of its body and what it does.
 * A caller acts under the name of its key. The stream `/api/events` is answered by the server itself.
 */
export function hubRoutes(
  hub: Hub,
  { keys, signIns }: HubDoors,
  clock: Clock,
  { turns, conversations }: MachineParts = {},
): HubRoute[] {
  const until = (seconds = longestSeconds) => clock.elapsed() + Math.min(seconds, longestSeconds) * 1000
  /** The task of an id or of a ticket; throws where the ticket is no longer the holder's. */
  const task = (id: string) => {
    const found = hub.task(taskIdOf(id))
    checkTicket(id, found)
    return found.id
  }
  const get = (path: string, answer: HubRoute['answer'], operation: HubOperation = 'read'): HubRoute => ({
    method: 'GET',
    path,
    operation,
    answer: async (request) => {
      // A change is sent only after it is saved.
      await hub.kept()
      return answer(request)
    },
  })
  return [
    get('/api/state', async () => ({ seq: hub.seq, agents: agents(hub), tasks: hub.tasks(), marks: hub.marks() })),
    get('/api/agents', async () => agents(hub)),
    get('/api/agents/:id', async ({ id }) => agentNow(hub, id)),
    post(
      '/api/agents',
      'register',
      parser({
        id: optional(text),
        role: text,
        name: optional(text),
        capabilities: optional(list(text)),
        workspace: text,
        source: optional(oneOf('CLI', 'IDE')),
      }),
      async ({ id, capabilities = [], source = 'CLI', ...rest }, { caller }) =>
        hub.register({ ...rest, id: agentOf(caller, id), capabilities, source }),
    ),
    post(
      '/api/agents/:id/wait',
      'take',
      parser({ timeout: optional(number(0)) }),
      async ({ timeout }, { id, signal, caller }) => {
        const given = await hub.wait(agentOf(caller, id), until(timeout), signal)
        return given.type === 'task' ? { ...given, ticket: ticketOf(given.task) } : given
      },
    ),
    post(
      '/api/agents/:id/evict',
      'evict',
      parser({ why: optional(text) }),
      async ({ why = 'removed by a person' }, { id }) => {
        await hub.evict(id, why)
        return {}
      },
    ),
    post(
      '/api/agents/:id/spent',
      'report',
      parser({ tokens: integer(0), cost: optional(number(0)), priced: optional(integer(0)) }),
      async (spent, { id, caller }) => {
        await hub.spent(agentOf(caller, id), spent)
        return {}
      },
    ),
    post(
      '/api/agents/:id/ask',
      'ask',
      parser({
        id: text,
        text,
        options: list(
          object({ id: text, label: text, grants: optional(text), means: optional(oneOf('once', 'always', 'no')) }),
        ),
        multiple: optional(boolean()),
        marked: optional(list(text)),
        ordered: optional(boolean()),
        free: optional(boolean()),
        task: optional(text),
      }),
      async (asked, { id, caller }) =>
        hub.ask(
          agentOf(caller, id),
          defined({
            ...asked,
            options: asked.options.map((option) => defined(option)),
            ordered: asked.ordered || undefined,
            task: asked.task && taskIdOf(asked.task),
          }),
        ),
    ),
    post('/api/agents/:id/withdraw', 'ask', anyBody, async (_, { id, caller }) =>
      hub.ask(agentOf(caller, id), undefined),
    ),
    post('/api/agents/:id/answer', 'answer', parser({ text }), async (said, { id, caller }) =>
      hub.answerAgent(id, said.text, caller.name),
    ),
    get('/api/tasks', async ({ query }) => hub.tasks().filter((each) => matches(each, query))),
    post(
      '/api/tasks',
      'add',
      parser({
        id: optional(text),
        prompt: text,
        workspace: text,
        wish: optional(text),
        capabilities: optional(list(text)),
        priority: optional(integer(-100, 100)),
        needs: optional(list(text)),
      }),
      async (fields, { caller }) => hub.add({ ...fields, by: caller.name }),
    ),
    get('/api/tasks/:id', async ({ id }) => hub.task(taskIdOf(id))),
    get('/api/tasks/:id/wait', async ({ id, query, signal }) => {
      const seconds = Number(query.get('timeout') ?? longestSeconds)
      return hub.settled(taskIdOf(id), until(Number.isFinite(seconds) ? seconds : undefined), signal)
    }),
    post('/api/tasks/:id/ack', 'take', parser({ agent: optional(text) }), async ({ agent }, { id, caller }) =>
      hub.ack(task(id), agentOf(caller, agent)),
    ),
    post(
      '/api/tasks/:id/progress',
      'report',
      parser({ agent: optional(text), message: text, percentage: optional(integer(0, 100)) }),
      async ({ agent, message, percentage }, { id, caller }) =>
        hub.progress(task(id), agentOf(caller, agent), message, percentage),
    ),
    post(
      '/api/tasks/:id/block',
      'ask',
      parser({ agent: optional(text), reason: text, question: text }),
      async ({ agent, reason, question }, { id, caller }) =>
        hub.block(task(id), agentOf(caller, agent), reason, question),
    ),
    post(
      '/api/tasks/:id/respond',
      'report',
      parser({
        agent: optional(text),
        status: oneOf('COMPLETED', 'FAILED', 'BLOCKED', 'IN_REVIEW'),
        message: text,
        artifacts: optional(list(anything())),
        diff: optional(string()),
      }),
      async ({ agent, ...result }, { id, caller }) => hub.respond(task(id), agentOf(caller, agent), result),
    ),
    post('/api/tasks/:id/answer', 'answer', parser({ text }), async (said, { id, caller }) =>
      hub.answer(task(id), said.text, caller.name),
    ),
    post('/api/tasks/:id/reject', 'review', parser({ text }), async (said, { id, caller }) =>
      hub.reject(task(id), said.text, caller.name),
    ),
    post('/api/tasks/:id/comment', 'comment', parser({ text }), async (said, { id, caller }) =>
      hub.comment(task(id), said.text, caller.name),
    ),
    post('/api/tasks/:id/cancel', 'direct', parser({ why: optional(text) }), async ({ why }, { id, caller }) =>
      hub.cancel(task(id), caller.name, why),
    ),
    post(
      '/api/tasks/:id/redirect',
      'direct',
      parser({ priority: optional(integer(-100, 100)), wish: optional(string()) }),
      async (change, { id, caller }) => hub.redirect(task(id), caller.name, defined(change)),
    ),
    post('/api/tasks/:id/retry', 'direct', anyBody, async (_, { id, caller }) => hub.retry(task(id), caller.name)),
    post('/api/tasks/:id/approve', 'review', anyBody, async (_, { id, caller }) => hub.approve(task(id), caller.name)),
    post('/api/broadcast', 'broadcast', parser({ text, workspace: optional(text) }), async (said) => ({
      told: await hub.broadcast(said.text, said.workspace),
    })),
    get('/api/inbox', async ({ caller }) => hub.inbox(caller.name), 'inbox'),
    post(
      '/api/inbox/mark',
      'inbox',
      parser({
        item: text,
        read: optional(boolean()),
        done: optional(boolean()),
        until: optional(integer(0)),
        owner: optional(string()),
      }),
      async (mark, { caller }) => {
        await hub.mark(caller.name, defined(mark))
        return {}
      },
    ),
    post(
      '/api/turns/:id/answer',
      'turns',
      parser({ ask: text, picks: optional(list(text)) }),
      async ({ ask, picks }, { id }) => reached(id, await turns?.answer(id, ask, picks)),
    ),
    post('/api/turns/:id/steer', 'turns', parser({ text }), async (said, { id }) =>
      reached(id, await turns?.steer(id, said.text)),
    ),
    post('/api/turns/:id/cancel', 'turns', anyBody, async (_, { id }) => reached(id, await turns?.cancel(id))),
    get('/api/sessions', async () => conversations?.list() ?? [], 'conversations'),
    get(
      '/api/sessions/:id/messages',
      async ({ id, query, caller }) => {
        if (caller.session !== undefined && caller.session !== id)
          throw new HubError('forbidden', 'This link shows another session.')
        const page = await conversations?.messages(id, wholeNumber(query, 'after', 0), longestPage)
        if (!page) throw new HubError('missing', `There is no session ${id}.`)
        return page
      },
      'watch',
    ),
    get('/api/search', async ({ query }) => conversations?.search(query.get('q') ?? '') ?? [], 'conversations'),
    get(
      '/api/usage',
      async ({ query }) => {
        const by = query.get('by') ?? 'agent'
        const group = usageGroups.find((each) => each === by)
        if (!group) throw new HubError('wrong', `by: found "${by}", allowed: ${usageGroups.join(', ')}.`)
        return conversations?.usage(group) ?? []
      },
      'conversations',
    ),
    get('/api/me', async ({ caller }) => caller, 'self'),
    post('/api/me/end', 'self', anyBody, async (_, { caller }) => keys.revoke(caller.id, caller)),
    post('/api/lent-keys', 'lend', parser({ name: text }), async ({ name }, { caller }) => keys.lend(name, caller)),
    get('/api/links', async ({ caller }) => signIns.links(caller), 'link'),
    post(
      '/api/links',
      'link',
      parser({ role: oneOf(...linkRoles), session: optional(text), hours: optional(number(0)) }),
      async (wish, { caller }) => signIns.makeLink(wish, caller),
    ),
    get('/api/sign-ins', async ({ caller }) => signIns.list(caller), 'link'),
    post('/api/sign-ins/:id/end', 'self', anyBody, async (_, { id, caller }) => {
      signIns.end(id, caller)
      return {}
    }),
    get('/api/keys', async () => keys.list(), 'keys'),
    post('/api/keys', 'keys', parser({ name: text, role: oneOf(...hubRoles) }), async ({ name, role }, { caller }) =>
      keys.add(name, role, caller),
    ),
    post('/api/keys/:id/rotate', 'keys', anyBody, async (_, { id, caller }) => keys.rotate(id, caller)),
    post('/api/keys/:id/revoke', 'keys', anyBody, async (_, { id, caller }) => keys.revoke(id, caller)),
  ]
}

function post<T>(
  path: string,
  operation: HubOperation,
  body: Parser<T>,
  answer: (fields: T, request: RoutedRequest) => Promise<unknown>,
): HubRoute {
  return { method: 'POST', path, operation, answer: async (request) => answer(readBody(body, request.body), request) }
}

function wholeNumber(query: URLSearchParams, name: string, usual: number): number {
  const number = Number(query.get(name) ?? usual)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new HubError('wrong', `${name}: found "${query.get(name)}", allowed: a whole number from 0 on.`)
}

/** Throws where a turn could not take what a person sent to it. */
function reached(turn: string, taken: boolean | undefined): object {
  if (!taken)
    throw new HubError('conflict', `Turn ${turn} is over, or somebody else has answered it already. Nothing was sent.`)
  return {}
}

function agents(hub: Hub) {
  return hub.agents().map(({ id }) => agentNow(hub, id))
}

function agentNow(hub: Hub, id: string) {
  const { waits, about, task } = hub.standing(id)
  return defined({ ...hub.agent(id), waits, about, task: task?.id })
}

function matches({ state, workspace, agent }: Task, query: URLSearchParams): boolean {
  const fields = { state, workspace, agent: agent ?? '' }
  return Object.entries(fields).every(([key, value]) => (query.get(key) ?? value) === value)
}
