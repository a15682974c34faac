import type { State } from './life.ts'
import { loginWanted } from './fault.ts'

/** Why a server cannot be called now, and what to do instead, for the model. */
export function absence(name: string, state: State, now: number): string {
  const who = `the MCP server ${name}`
  switch (state.is) {
    case 'starting':
    case 'ready':
      return `${who} is still starting. Go on without it, and call it again later.`
    case 'waiting':
      return `${who} is not running (${state.why}). It is started again in ${seconds(state.next - now)} s: go on without it until then.`
    case 'login':
      return loginWanted(name)
    case 'failed':
      return `${who} cannot be used (${state.why}). Go on without it; /mcp shows the person more.`
    case 'closed':
      return `${who} was closed. Go on without it.`
  }
}

export const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000))
