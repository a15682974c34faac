import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { tighter } from '../../core/work/agent.ts'
import { TrustBook, trustQuestion } from '../../safety/trust/trust.ts'
import { projectFile } from '../../settings/settings-schema.ts'
import { auditOf } from './audited.ts'
import { broughtLines, withBrought } from './brought.ts'
import { noteOnce } from './parts.ts'

/** A seat as what comes with its folder leaves it, and whether that may steer it at all. */
export type Trusted = { held: NativeSeat; trusted: boolean }

/** Whether what comes with the project may run and steer our agent: whoever watches is asked once, nobody there means no. */
export async function* trustedIn(turn: Turn, seat: NativeSeat, parts: NativeParts): AsyncGenerator<Event, Trusted> {
  const trusted = yield* judged(turn, seat, parts)
  parts.lasting.held.set(seat.agent.name, trusted.held)
  return trusted
}

async function* judged(turn: Turn, seat: NativeSeat, parts: NativeParts): AsyncGenerator<Event, Trusted> {
  const { store, clock, root, cwd, home, lasting } = parts
  const book = new TrustBook(store, { clock, own: home })
  const standing = await book.of(root, cwd)
  if (standing.state === 'trusted') return { held: await heldBy(seat, parts), trusted: true }
  const question = async () => trustQuestion(root, standing, await broughtLines(parts, standing.files))
  const picks = turn.attended ? await turn.ask(await question(), turn.signal) : undefined
  const answer = picks?.includes('trust') ? 'trust' : 'no'
  if (picks) await auditOf(parts)?.record({ type: 'trust', what: root, answer, session: parts.session, turn: turn.id })
  if (answer === 'trust' && (await book.trust(root, standing.mark, cwd)).state === 'trusted') {
    lasting.trustGiven = true
    return { held: await heldBy(seat, parts), trusted: true }
  }
  // What the settings would say was told of when they were read.
  const [first, ...more] = standing.files.filter((file) => file !== projectFile)
  const what = more.length === 0 ? first : `${first} and ${more.length} more`
  if (first !== undefined) yield { type: 'note', text: `${what} not used: this folder is not trusted.` }
  return { held: seat, trusted: false }
}

/** As the settings were read, unless the folder was trusted since: what is read again narrows nothing twice. */
async function heldBy(seat: NativeSeat, parts: NativeParts): Promise<NativeSeat> {
  const { settings, warnings } = await withBrought(seat.settings, parts)
  for (const words of warnings) noteOnce(parts, words)
  if (!parts.lasting.trustGiven) return { ...seat, settings }
  const own = settings.agents.find(({ name }) => name === seat.agent.name)
  return { ...seat, settings, leash: tighter(seat.leash, own?.leash ?? settings.leash) }
}
