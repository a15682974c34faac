import type { Entry, Event } from '../core/talk/entry.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Doc } from '../core/talk/store.ts'
import type { Turn } from '../core/work/agent.ts'
import type { Strategy } from '../core/work/strategy.ts'
import type { Cooldown, Health } from './health.ts'
import type { Tally } from './unanswered.ts'
import { wordsOf } from '../base/words.ts'
import { failed } from '../core/talk/outcome.ts'

export type Rotation = {
  strategy: Strategy
  health: Doc<Health>
  cooldown: Cooldown
  /** Asked for by the person, this turn only: passes over a cool-down, does not move the position, still fails over. */
  first?: string
  random(): number
  /** Hides secrets in what is handed over. */
  mask(text: string): string
  /** Who is out for this process, and why: not installed, or not logged in. */
  out: Map<string, Failure>
  sharing: 'all' | 'ask'
  /** The conversation that `sharing` is about, when the turn brings it in another form than its history. */
  told?: readonly Entry[]
  /** A consultation never moves the position, and nobody is asked what to do about its failures. */
  consulted?: boolean
  /** The files that changed since it was asked last, or since the turn began. */
  changes?(): Promise<string[]>
  /** Shortens the conversation; the new history, or undefined when it could not. */
  compact?(turn: Turn): Promise<readonly Entry[] | undefined>
}

/** One turn's way through the roster; `attended`: whether a person says how it goes on after a failure. */
export type Round = {
  turn: Turn
  health: Health
  unkept: boolean
  tally: Tally
  compacted: boolean
  attended: boolean
  seen?: Set<string>
}

export const cancelled = failed('aborted', 'cancelled')

export const note = (text: string): Event => ({ type: 'note', text, by: 'termaite' })

/** The rotation goes on without its health: an answer is worth more than a place in the line. */
export async function* orNote(health: Promise<Health>, instead: Health, round: Round): AsyncGenerator<Event, Health> {
  try {
    return await health
  } catch (error) {
    if (!round.unkept) yield note(`the rotation goes on without its health: ${wordsOf(error)}`)
    round.unkept = true
    return instead
  }
}
