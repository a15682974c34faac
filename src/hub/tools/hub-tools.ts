import type { Clock } from '../../base/clock.ts'
import type { HubCaller } from '../../core/work/hub-key.ts'
import type { Hub } from '../hub.ts'
import type { Identify } from './agent-tools.ts'
import type { HubTool } from './hub-tool.ts'
import { mayDo } from '../hub-roles.ts'
import { agentTools } from './agent-tools.ts'
import { coordinatorTools } from './coordinator-tools.ts'
import { operatorTools } from './operator-tools.ts'

/** The hub's tools that the caller's role may call: one row and one method of the hub each. */
export function hubTools(hub: Hub, clock: Clock, caller: HubCaller, identify?: Identify): HubTool[] {
  return [
    ...agentTools(hub, clock, caller, identify),
    ...coordinatorTools(hub, clock, caller.name),
    ...operatorTools(hub, clock, caller.name),
  ].filter(({ operation }) => mayDo(caller.role, operation))
}
