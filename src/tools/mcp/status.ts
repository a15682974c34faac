import type { Server } from './server.ts'
import { stripAnsi } from '../../base/ansi.ts'

/** A server as a person is shown it: no variable's value, no header, no key. */
export type ServerStatus = {
  name: string
  from: string
  /** Its command or address as it was written. */
  at: string
  state: 'starting' | 'ready' | 'waiting' | 'login' | 'failed' | 'closed'
  why?: string
  /** When it is tried again by itself. */
  next?: number
  /** The version of the protocol that is spoken, and who speaks it. */
  protocol?: string
  speaker?: string
  tools: { name: string; tool: string; description: string }[]
  /** Whether a model is given its tools directly. */
  direct: boolean
  /** The last of what it wrote about itself. */
  said: string
}

/** `names` are those its tools are called by; what a server says of itself is text, and moves no cursor. */
export function statusOf(server: Server, names: readonly string[], direct: boolean): ServerStatus {
  const { config, state, said } = server
  const client = state.is === 'ready' ? state.connection.client : undefined
  const protocol = client?.getNegotiatedProtocolVersion()
  const speaker = client?.getServerVersion()
  return {
    name: config.name,
    from: config.from,
    at: config.shown,
    state: state.is,
    ...('why' in state ? { why: state.why } : {}),
    ...('next' in state ? { next: state.next } : {}),
    ...(protocol ? { protocol } : {}),
    ...(speaker ? { speaker: stripAnsi(`${speaker.name} ${speaker.version}`) } : {}),
    tools: server.tools.map((tool, i) => ({
      name: names[i]!,
      tool: stripAnsi(tool.name),
      description: stripAnsi(tool.description ?? tool.title ?? '')
        .trim()
        .split('\n')[0]!,
    })),
    direct,
    said,
  }
}
