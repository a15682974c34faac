import type { Turn } from '../../core/work/agent.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { hooks } from './hooking.ts'

/** With the first turn of our own agent in a session of this run its hooks are told, and so after a summary; gives what they tell the model. */
export async function sessionBegun(turn: Turn, seat: NativeSeat, parts: NativeParts): Promise<string[]> {
  const { lasting, session } = parts
  const source = sourceOf(turn, parts)
  if (source === undefined) return []
  const over = new AbortController().signal
  const end = async (reason: string) => (await hooks('SessionEnd', { reason }, seat, parts, over)).warnings
  lasting.session = { id: session, end }
  const { context } = await hooks('SessionStart', { source }, seat, parts, turn.signal)
  return context
}

function sourceOf({ history }: Turn, { lasting, session }: NativeParts): string | undefined {
  const was = lasting.session
  if (was?.id === session) return was.compacted ? 'compact' : undefined
  if (history.length > 0) return 'resume'
  return was ? 'clear' : 'startup'
}
