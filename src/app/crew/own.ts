import type { Profile } from '../../core/work/profile.ts'
import type { Program } from '../mcp/own-start.ts'
import type { AgentSettings } from '../../settings/agent-settings.ts'
import { quote } from '../../profiles/shared/shell-words.ts'
import { termaite } from '../../profiles/termaite.ts'
import { vendorOf } from '../../settings/agent-settings.ts'

/** Our own agent in a terminal is our own chat, started as this program was. */
export function ownProfile(agent: AgentSettings, { node, file }: Program): Profile {
  return termaite(`${quote(node)} ${quote(file)}`, agent.name, vendorOf(agent) ?? 'unknown')
}
