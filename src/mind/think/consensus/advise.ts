import type { Event } from '../../../core/talk/entry.ts'
import type { Course } from '../course.ts'
import type { Asked } from '../minds.ts'
import type { Advisor } from './advisors.ts'
import type { Proposal } from './proposal.ts'
import { merge } from '../../../base/merge.ts'
import { note } from '../course.ts'
import { firstLine, quoted } from '../words.ts'
import { advisors } from './advisors.ts'
import { approachWords } from './proposal.ts'
import { seatsOf } from './seats.ts'

/** What one advisor said: what it proposes, and its answer for the chair; `prose`: it could only be read as words. */
export type Advice = Asked & { by: string; proposals: Proposal[]; words: string; prose?: true }

/** One that was asked in vain. */
export type Silence = Asked & { why: string }

/** All that came of asking, in the order of the roles. */
export type Hearing = { advice: Advice[]; silent: Silence[] }

/** Once more have advised than are waited for, those have so long left. */
export const graceMs = 60_000

/** Asks the five side by side; nobody holds up the rest, and who said something is told in one line. */
export async function* advised(course: Course): AsyncGenerator<Event, Hearing> {
  const { turn, minds } = course
  const seats = seatsOf(minds)
  const heard = new Map<Asked, Advice | Silence>()
  const enough = new AbortController()
  const settled = new AbortController()
  let closing = false
  const hear = (seat: Asked, said: Advice | Silence) => {
    heard.set(seat, said)
    if (course.over) enough.abort()
    const awaited = seats.length - heard.size
    if (closing || hearingOf(seats, heard).advice.length <= awaited) return
    closing = true
    void turn.clock.sleep(graceMs, settled.signal).then(() => settled.signal.aborted || enough.abort())
  }
  yield course.phase(`asking ${seats.length} advisors`)
  try {
    yield* merge(
      seats.map(async function* (seat, at): AsyncGenerator<Event, void> {
        hear(seat, yield* heardFrom(advisors[at]!, seat, enough.signal, course))
        yield course.phase(`${heard.size} of ${seats.length} advisors are done`)
      }),
    )
  } finally {
    settled.abort()
  }
  const hearing = hearingOf(seats, heard)
  if (!course.over) yield note(roll(hearing))
  return hearing
}

function hearingOf(seats: readonly Asked[], heard: ReadonlyMap<Asked, Advice | Silence>): Hearing {
  const all = seats.flatMap((seat) => heard.get(seat) ?? [])
  return {
    advice: all.flatMap((one) => ('by' in one ? one : [])),
    silent: all.flatMap((one) => ('by' in one ? [] : one)),
  }
}

async function* heardFrom(
  { asked, shape, proposals }: Advisor,
  seat: Asked,
  enough: AbortSignal,
  course: Course,
): AsyncGenerator<Event, Advice | Silence> {
  // What cannot be read is not sent back: the chair can read words, and the others are waiting.
  const told = yield* course.askFor(seat, adviceWords(seat.role, asked, course), shape, 0, undefined, enough)
  if (told.ok) return { ...seat, by: told.by, proposals: proposals(told.value), words: JSON.stringify(told.value) }
  if (told.words?.trim()) return { ...seat, by: told.by, proposals: [], words: told.words, prose: true }
  return { ...seat, why: enough.aborted ? 'it was not waited for any longer' : told.why }
}

function adviceWords(role: string, asked: string, { turn, minds }: Course): string {
  return [
    'Five advisors are asked at the same time how a request is best met; then a chair weighs what they say, and another agent does the work. You are one of the five. Do not do the work: change nothing, and look only as far as your answer depends on it. The chair knows only what you write, and waits two minutes for it.',
    quoted('request', turn.prompt),
    minds.machine.words,
    `You are the ${role}. ${asked}`,
    approachWords,
  ].join('\n\n')
}

/** Who advised, and who did not. */
function roll({ advice, silent }: Hearing): string {
  const who = ({ role, agent, by, prose }: Advice) =>
    `${role} (${by}${by === agent ? '' : ` for ${agent}`}${prose ? ', in prose' : ''})`
  const why = ({ role, agent, why }: Silence) => `${role} (${agent}: ${firstLine(why, 120)})`
  return [
    ...(advice.length > 0 ? [`advice: ${advice.map(who).join(', ')}`] : []),
    ...(silent.length > 0 ? [`no advice: ${silent.map(why).join(', ')}`] : []),
    ...(advice.length === 0 ? ['taken directly'] : []),
  ].join('; ')
}
