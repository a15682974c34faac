import type { agentOperations } from '../../model/operations/agent-operations.ts'
import type { HubKeys } from '../../engine/access/hub-keys.ts'
import type { Hub } from '../../engine/hub.ts'
import type { Handlers } from '../access/hub-router.ts'
import { defined } from '../../../base/defined.ts'
import { agentOf } from '../../engine/access/hub-roles.ts'
import { taskIdOf, ticketOf } from '../../engine/rules/task-rules.ts'

/** Agents: they register, wait for work, ask and report; people send them messages and remove them. `until` returns the end of a wait. */
export function agentRoutes(
  hub: Hub,
  keys: Pick<HubKeys, 'agentFor'>,
  until: (seconds?: number) => number,
): Handlers<keyof typeof agentOperations> {
  return {
    'GET /api/agents': async () => hub.agents(),
    'GET /api/agents/:id': async (_, { id }) => hub.agentNow(id),
    'POST /api/agents': async ({ id, capabilities = [], source = 'CLI', ...rest }, { caller }) =>
      hub.register({ ...rest, id: await keys.agentFor(caller, id), capabilities, source }),
    'POST /api/agents/:id/wait': async ({ timeout, asked }, { id, signal, caller }) => {
      const given = await hub.wait(agentOf(caller, id), until(timeout), signal, asked)
      return given.type === 'task' ? { ...given, ticket: ticketOf(given.task) } : given
    },
    'POST /api/agents/:id/evict': async ({ why = 'removed by a person' }, { id }) => {
      await hub.orders.evict(id, why)
      return {}
    },
    'POST /api/agents/:id/stop': async (_, { id, caller }) => hub.orders.stop(id, caller.name),
    'POST /api/agents/:id/message': async (said, { id, caller, key }) =>
      hub.orders.message(id, said.text, caller.name, key),
    'POST /api/agents/:id/status': async (status, { id, caller }) => {
      await hub.reports.status(agentOf(caller, id), defined(status))
      return {}
    },
    'POST /api/agents/:id/spent': async (spent, { id, caller }) => {
      await hub.reports.spent(agentOf(caller, id), spent)
      return {}
    },
    'POST /api/agents/:id/ask': async (asked, { id, caller }) =>
      hub.questions.ask(
        agentOf(caller, id),
        defined({
          ...asked,
          options: asked.options.map((option) => defined(option)),
          ordered: asked.ordered || undefined,
          task: asked.task && taskIdOf(asked.task),
        }),
      ),
    'POST /api/agents/:id/withdraw': async (_, { id, caller }) => hub.questions.ask(agentOf(caller, id), undefined),
    'POST /api/agents/:id/answer': async (said, { id, caller }) =>
      hub.questions.answerAgent(id, said.picks, caller.name),
    'POST /api/broadcast': async (said, { caller, key }) => ({
      told: await hub.orders.broadcast(said.text, caller.name, said.workspace, key),
    }),
  }
}
