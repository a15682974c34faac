import type { Belongings } from '../../core/profile/belongings.ts'
import { join } from 'node:path'

/** pi has no MCP servers, hooks or rules; its extensions are programs that only pi can run. */
export const piBelongings: Belongings = {
  settings: () => [],
  places({ home, env }) {
    const own = env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent')
    return [
      { kind: 'commands', path: join(own, 'prompts') },
      { kind: 'skills', path: join(own, 'skills') },
      { kind: 'skills', path: join(home, '.agents', 'skills'), name: 'shared' },
      { kind: 'instructions', path: join(own, 'AGENTS.md') },
    ]
  },
}
