import type { Clock } from '../../base/time/clock.ts'
import type { OperationName } from '../model/operations/operations.ts'
import type { Hub } from '../engine/hub.ts'
import type { HubRoute } from './access/hub-router.ts'
import type { MachineParts } from './routes/machine-routes.ts'
import type { HubDoors } from './routes/people-routes.ts'
import { routesOf } from './access/hub-router.ts'
import { agentRoutes } from './routes/agent-routes.ts'
import { machineRoutes, operatorRoutes } from './routes/machine-routes.ts'
import { peopleRoutes } from './routes/people-routes.ts'
import { pipelineRoutes } from './routes/pipeline-routes.ts'
import { stateRoutes } from './routes/state-routes.ts'
import { storageRoutes } from './routes/storage-routes.ts'
import { taskRoutes } from './routes/task-routes.ts'

/** The longest time that one request waits. */
const longestSeconds = 290

/** The operations of the hub over HTTP (`hub/model/operations/`), with this hub's answers. A caller acts under the name of its key. */
export function hubRoutes(hub: Hub, doors: HubDoors, clock: Clock, machine: MachineParts = {}): HubRoute[] {
  const until = (seconds = longestSeconds) => clock.elapsed() + Math.min(seconds, longestSeconds) * 1000
  return routesOf<OperationName>(
    {
      ...agentRoutes(hub, doors.keys, until),
      ...taskRoutes(hub, until),
      ...pipelineRoutes(hub, clock),
      ...peopleRoutes(hub, doors, machine),
      ...machineRoutes(machine, (name) => hub.operators.forget(name)),
      ...operatorRoutes(hub),
      ...stateRoutes(hub),
      ...storageRoutes(hub, clock),
    },
    hub.requests,
  )
}
