import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { NativeParts } from './parts.ts'
import { auditOf } from './audited.ts'
import { TrustBook, trustQuestion } from '../../safety/trust/trust.ts'

/** Whether what comes with the project may steer our agent: whoever watches is asked once, nobody there means no. */
export async function* trustedIn(turn: Turn, parts: NativeParts): AsyncGenerator<Event, boolean> {
  const { store, clock, root } = parts
  const book = new TrustBook(store, clock)
  const standing = await book.of(root)
  if (standing.state === 'trusted') return true
  const picks = turn.attended ? await turn.ask(trustQuestion(root, standing), turn.signal) : undefined
  const answer = picks?.includes('trust') ? 'trust' : 'no'
  if (picks) await auditOf(parts)?.record({ type: 'trust', what: root, answer, session: parts.session, turn: turn.id })
  if (picks?.includes('trust')) return (await book.trust(root, standing.mark)).state === 'trusted'
  const [first, ...more] = standing.files
  const what = more.length === 0 ? first : `${first} and ${more.length} more`
  yield { type: 'note', text: `${what} not used: this folder is not trusted.` }
  return false
}
