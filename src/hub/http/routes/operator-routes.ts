import type { Hub } from '../../engine/hub.ts'
import type { HubRoute } from '../access/hub-router.ts'
import type { Patience } from './route-forms.ts'
import { wholeHub } from '../../model/tasks/machine-rules.ts'
import { boolean, optional, parser } from '../../../core/data/shape.ts'
import { machineNamed } from '../../engine/operator-orders.ts'
import { labels, limit, reason } from '../../model/tasks/machine-rules.ts'
import { HubError } from '../../engine/rules/task-rules.ts'
import { anyBody, post } from './route-forms.ts'

const pauseForm = parser({ why: optional(reason), drain: optional(boolean()) })

/** The orders of operators: pauses of agents, machines and the hub, and the labels and limits of machines. */
export function operatorRoutes(hub: Hub, { get }: Patience): HubRoute[] {
  const { operators } = hub
  return [
    get(
      '/api/rules',
      'Lists the pauses, labels and limits of machines; the pause of the whole hub has the name `*`.',
      async () => operators.rules(),
    ),
    post(
      '/api/agents/:id/pause',
      'Gives an agent no new tasks until it is resumed; the task that it has goes on.',
      'pause',
      pauseForm,
      async ({ why, drain }, { id, caller }) => operators.pauseAgent(id, { by: caller.name, why, drains: drain }),
    ),
    post('/api/agents/:id/resume', 'Gives tasks to a paused agent again.', 'pause', anyBody, async (_, { id }) =>
      operators.resumeAgent(id),
    ),
    post(
      '/api/machines/:id/pause',
      'Gives the agents of a machine no new tasks until it is resumed.',
      'operate',
      pauseForm,
      async ({ why, drain }, { id, caller }) =>
        operators.pause(machineNamed(id), { by: caller.name, why, drains: drain }),
    ),
    post(
      '/api/machines/:id/resume',
      'Gives tasks to the agents of a paused machine again.',
      'operate',
      anyBody,
      async (_, { id }) => operators.resume(machineNamed(id)),
    ),
    post(
      '/api/machines/:id/rules',
      'Sets the labels of a machine, and the most tasks that its agents have at once; an empty list and 0 take them away.',
      'operate',
      parser({ labels: optional(labels), limit: optional(limit) }),
      async (wish, { id }) => {
        if (wish.labels === undefined && wish.limit === undefined)
          throw new HubError('wrong', 'Name labels, a limit, or both.')
        return operators.set(machineNamed(id), wish)
      },
    ),
    post(
      '/api/hub/pause',
      'Gives nobody new tasks, at any hub of the ledger, until it is resumed.',
      'operate',
      pauseForm,
      async ({ why, drain }, { caller }) => operators.pause(wholeHub, { by: caller.name, why, drains: drain }),
    ),
    post(
      '/api/hub/copy',
      'Writes a copy of a ledger in a file beside it, and tells its path. Only for the key of the hub’s own machine.',
      'operate',
      anyBody,
      async (_, { caller }) => ({ path: await operators.copyLedger(caller) }),
    ),
    post('/api/hub/resume', 'Gives out tasks again.', 'operate', anyBody, async () => operators.resume(wholeHub)),
  ]
}
