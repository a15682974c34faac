import type { Clock } from '../../base/time/clock.ts'
import type { Hub } from '../engine/hub.ts'
import type { HubRoute } from './access/hub-router.ts'
import type { MachineParts } from './routes/machine-routes.ts'
import type { HubDoors } from './routes/people-routes.ts'
import type { Patience } from './routes/route-forms.ts'
import { doneOnce } from './access/hub-router.ts'
import { attachmentRoutes } from './routes/attachment-routes.ts'
import { agentRoutes } from './routes/agent-routes.ts'
import { bundleRoutes } from './routes/bundle-routes.ts'
import { machineRoutes } from './routes/machine-routes.ts'
import { operatorRoutes } from './routes/operator-routes.ts'
import { pipelineRoutes } from './routes/pipeline-routes.ts'
import { pageRoutes } from './routes/page-routes.ts'
import { peopleRoutes } from './routes/people-routes.ts'
import { retentionRoutes } from './routes/retention-routes.ts'
import { longestSeconds, wordsOf } from './routes/route-forms.ts'
import { taskRoutes } from './routes/task-routes.ts'

/**
 * The hub over HTTP: each entry is one route with its path, its operation, the fields of its body and what it does. A caller acts under the
 * name of its key. The server itself answers the stream `/api/events`.
 */
export function hubRoutes(hub: Hub, doors: HubDoors, clock: Clock, machine: MachineParts = {}): HubRoute[] {
  const patience: Patience = {
    get: (path, words, answer, operation = 'read') => ({
      method: 'GET',
      path,
      ...wordsOf(words),
      operation,
      answer,
    }),
    until: (seconds = longestSeconds) => clock.elapsed() + Math.min(seconds, longestSeconds) * 1000,
  }
  const routes = [
    ...agentRoutes(hub, doors.keys, patience),
    ...taskRoutes(hub, patience),
    ...bundleRoutes(hub, patience),
    ...pipelineRoutes(hub, clock, patience),
    ...peopleRoutes(hub, doors, patience, machine),
    ...machineRoutes(machine, patience, (name) => hub.operators.forget(name)),
    ...operatorRoutes(hub, patience),
    ...pageRoutes(hub, patience),
    ...attachmentRoutes(hub, patience),
    ...retentionRoutes(hub.retention, clock, patience),
  ]
  return routes.map((route) => doneOnce(route, hub.requests))
}
