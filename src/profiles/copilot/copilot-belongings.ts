import type { Belongings, FoundSettings } from '../../core/profile/belongings.ts'
import { join } from 'node:path'
import { isPlainObject } from '../../base/plain-object.ts'
import { bracedVariables, serversIn } from '../shared/found-servers.ts'

/** `mcp-config.json`: `{"mcpServers": {"name": {"type": "local", "command", "args", "env", "tools": ["*"]}}}` */
function servers(value: unknown): FoundSettings {
  return isPlainObject(value) ? serversIn(value.mcpServers, { text: bracedVariables }) : {}
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
