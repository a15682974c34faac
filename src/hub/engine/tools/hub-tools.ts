import type { Clock } from '../../../base/time/clock.ts'
import type { HubCaller } from '../../model/access/hub-key.ts'
import type { Hub } from '../hub.ts'
import type { Registry } from './agent-tools.ts'
import type { HubTool } from '../access/hub-tool.ts'
import { checkRole } from '../access/hub-roles.ts'
import { mayDo } from '../../model/access/rights.ts'
import { agentTools } from './agent-tools.ts'
import { coordinatorTools } from './coordinator-tools.ts'
import { operatorTools } from './operator-tools.ts'

/** The hub's tools that the caller's role may call: each is one row here and calls one method of the hub. */
export function hubTools(hub: Hub, clock: Clock, caller: HubCaller, registry: Registry = {}): HubTool[] {
  return allTools(hub, clock, caller, registry).filter(({ right }) => mayDo(caller.role, right))
}

/**
 * The tools that the caller's role may not call. They are not listed; a call of one is refused with a message that names the roles that
 * may call it.
 */
export function lackedTools(hub: Hub, clock: Clock, caller: HubCaller): HubTool[] {
  return allTools(hub, clock, caller, {})
    .filter(({ right }) => !mayDo(caller.role, right))
    .map((tool) => ({
      ...tool,
      parse: (input) => input,
      run: async () => {
        checkRole(caller, tool.right)
        return ''
      },
    }))
}

function allTools(hub: Hub, clock: Clock, caller: HubCaller, registry: Registry): HubTool[] {
  return [
    ...agentTools(hub, clock, caller, registry),
    ...coordinatorTools(hub, clock, caller.name),
    ...operatorTools(hub, clock, caller.name),
  ]
}
