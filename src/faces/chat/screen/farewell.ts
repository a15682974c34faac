import type { State } from '../state.ts'
import type { Look } from '../transcript/look.ts'
import { Rendered } from '../transcript/render.ts'

/** What stays in the scrollback of the terminal: the last answer. */
export function farewell({ done, live }: State, look: Look, columns: number): string {
  const isReply = (block: State['done'][number]) => block.type === 'reply' && !block.live
  const reply = live.findLast(isReply) ?? done.findLast(isReply)
  if (!reply) return ''
  return `${new Rendered().lines(reply, undefined, Math.max(20, columns), look, true).join('\r\n')}\x1b[0m\r\n`
}
