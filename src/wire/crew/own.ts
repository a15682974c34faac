import type { Leash } from '../../core/work/agent.ts'
import type { Program } from '../mcp/own-start.ts'
import type { AgentSettings } from '../settings/settings.ts'

/**
 * Our own agent in a terminal is our own chat, in a session of its own: what is said in a slot is not said in the
 * project's conversation.
 */
export function ownCommand(agent: AgentSettings, seat: { leash: Leash; session: string }, program: Program): string {
  const words = [program.node, program.file, '--agent', agent.name, '--mode', 'agent', '--leash', seat.leash]
  return [...words, '--session', seat.session].map(quoted).join(' ')
}

const quoted = (word: string) => (/^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
