import type { Clock } from '../../base/clock.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Crew } from '../crew.ts'
import { about, integer, number, optional, string } from '../../core/work/shape.ts'

/** What the tools need of whoever offers them. */
export type CrewDesk = {
  /** The crew of a workspace; without a name, of the project at hand. */
  crew(workspace?: string): Crew
  clock: Clock
  cwd: string
  /** What an agent may do when nobody says otherwise. */
  leash: Leash
  /** Whether it is a person who asks: a leash that they name counts, whatever the settings say. */
  person?: boolean
  /** Every agent that can be spawned, with what it is for. */
  agents(): readonly { name: string; description?: string }[]
}

export const workspace = optional(about('Crew to use; default: the crew of this project.', string()))
export const slot = integer(1)
export const seconds = number(0)

/** How long a wait may last: what was asked for, or what whoever called has patience for. */
export function deadline(clock: Clock, seconds: number, until: number): { at: number; short: boolean } {
  const wanted = clock.now() + seconds * 1000
  return { at: Math.min(wanted, until), short: until < wanted }
}
