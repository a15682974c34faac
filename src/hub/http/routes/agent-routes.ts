import type { HubKeys } from '../../engine/access/hub-keys.ts'
import type { Hub } from '../../engine/hub.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { defined } from '../../../base/defined.ts'
import { about, boolean, integer, list, number, object, oneOf, optional, parser } from '../../../core/data/shape.ts'
import { questionSubjects } from '../../../core/talk/question.ts'
import { agentOf } from '../../engine/access/hub-roles.ts'
import { taskIdOf, ticketOf } from '../../engine/rules/task-rules.ts'
import { anyBody, post, text } from './route-forms.ts'

/** The most keys of workspaces that one agent registers. */
const mostWorkspaces = 1_000

/** Agents: they register, wait for work, ask and report; people send them messages and remove them. */
export function agentRoutes(hub: Hub, keys: Pick<HubKeys, 'agentFor'>, { get, until }: Patience): HubRoute[] {
  return [
    get('/api/agents', 'Lists the registered agents.', async () => hub.agents()),
    get('/api/agents/:id', 'One registered agent as it is now.', async ({ id }) => hub.agentNow(id)),
    post(
      '/api/agents',
      'Registers the caller as an agent.',
      'register',
      parser({
        id: optional(text),
        role: text,
        name: optional(text),
        capabilities: optional(list(text)),
        workspace: text,
        workspaces: optional(list(text, 0, mostWorkspaces)),
        version: optional(text),
        protocol: optional(integer(1)),
        source: optional(oneOf('CLI', 'IDE')),
        machine: optional(text),
      }),
      async ({ id, capabilities = [], source = 'CLI', ...rest }, { caller }) =>
        hub.register({ ...rest, id: await keys.agentFor(caller, id), capabilities, source }),
    ),
    post(
      '/api/agents/:id/wait',
      'Waits for a task, a message or the end; at most 290 seconds.',
      'take',
      parser({
        timeout: optional(about('Seconds to wait at most.', number(0))),
        asked: optional(
          about(
            'Which request for work of which run this is: a request that arrives after one with a higher number gets nothing.',
            object({
              run: about('New for each process of the agent.', text),
              number: about('Grows with each request for work.', integer(0)),
            }),
          ),
        ),
      }),
      async ({ timeout, asked }, { id, signal, caller }) => {
        const given = await hub.wait(agentOf(caller, id), until(timeout), signal, asked)
        return given.type === 'task' ? { ...given, ticket: ticketOf(given.task) } : given
      },
    ),
    post(
      '/api/agents/:id/evict',
      'Removes an agent from the hub.',
      'evict',
      parser({ why: optional(text) }),
      async ({ why = 'removed by a person' }, { id }) => {
        await hub.orders.evict(id, why)
        return {}
      },
    ),
    post(
      '/api/agents/:id/stop',
      'Stops the work of an agent on its task.',
      'direct',
      anyBody,
      async (_, { id, caller }) => hub.orders.stop(id, caller.name),
    ),
    post(
      '/api/agents/:id/message',
      'Sends a message to an agent, which it gets when it waits next.',
      'broadcast',
      parser({ text }),
      async (said, { id, caller, key }) => hub.orders.message(id, said.text, caller.name, key),
    ),
    post(
      '/api/agents/:id/status',
      'Tells the machine, the framework, the free disk and the quota of the calling agent.',
      'report',
      parser({
        machine: optional(text),
        framework: optional(text),
        contextLeft: optional(number(0)),
        diskFree: optional(integer(0)),
        parkedUntil: optional(integer(0)),
        parkedWhy: optional(text),
      }),
      async (status, { id, caller }) => {
        await hub.reports.status(agentOf(caller, id), defined(status))
        return {}
      },
    ),
    post(
      '/api/agents/:id/spent',
      'Tells what the calling agent has used in all.',
      'report',
      parser({ tokens: integer(0), cost: optional(number(0)), priced: optional(integer(0)) }),
      async (spent, { id, caller }) => {
        await hub.reports.spent(agentOf(caller, id), spent)
        return {}
      },
    ),
    post(
      '/api/agents/:id/ask',
      'Shows a question of the calling agent to people.',
      'ask',
      parser({
        id: text,
        text,
        about: optional(oneOf(...questionSubjects)),
        options: list(
          object({
            id: text,
            label: text,
            grants: optional(text),
            means: optional(oneOf('once', 'always', 'no')),
            key: optional(integer(0)),
          }),
        ),
        multiple: optional(boolean()),
        marked: optional(list(text)),
        ordered: optional(boolean()),
        free: optional(boolean()),
        task: optional(text),
      }),
      async (asked, { id, caller }) =>
        hub.questions.ask(
          agentOf(caller, id),
          defined({
            ...asked,
            options: asked.options.map((option) => defined(option)),
            ordered: asked.ordered || undefined,
            task: asked.task && taskIdOf(asked.task),
          }),
        ),
    ),
    post(
      '/api/agents/:id/withdraw',
      'Withdraws the question of the calling agent.',
      'ask',
      anyBody,
      async (_, { id, caller }) => hub.questions.ask(agentOf(caller, id), undefined),
    ),
    post(
      '/api/agents/:id/answer',
      'Answers the question of an agent.',
      'answer',
      parser({ text }),
      async (said, { id, caller }) => hub.questions.answerAgent(id, said.text, caller.name),
    ),
    post(
      '/api/broadcast',
      'Sends a message to all agents, or to those of one workspace.',
      'broadcast',
      parser({ text, workspace: optional(text) }),
      async (said, { caller, key }) => ({
        told: await hub.orders.broadcast(said.text, caller.name, said.workspace, key),
      }),
    ),
  ]
}
