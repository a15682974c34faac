import type { Belongings, FoundSettings } from '../../core/work/belongings.ts'
import { join } from 'node:path'
import { bracedVariables, isMap, serversIn } from '../shared/found-servers.ts'

/** `mcp-config.json`: `{"mcpServers": {"name": {"type": "local", "command", "args", "env", "tools": ["*"]}}}` */
function servers(value: unknown): FoundSettings {
  return isMap(value) ? serversIn(value.mcpServers, { text: bracedVariables }) : {}
}

export const copilotBelongings: Belongings = {
  settings({ home, env }) {
    const own = env.COPILOT_HOME || join(home, '.copilot')
    return [{ path: join(own, 'mcp-config.json'), owner: 'person', format: 'json', read: servers }]
  },
  places({ home, env }) {
    const own = env.COPILOT_HOME || join(home, '.copilot')
    return [
      { kind: 'skills', path: join(own, 'skills') },
      { kind: 'instructions', path: join(own, 'copilot-instructions.md') },
    ]
  },
}
