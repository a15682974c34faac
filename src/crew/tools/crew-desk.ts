import type { Clock } from '../../base/time/clock.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Crew } from '../crew.ts'
import type { Slot } from '../slot.ts'
import { tighter } from '../../core/work/agent.ts'
import { about, integer, number, optional, string } from '../../core/data/shape.ts'
import { CrewError } from '../slot.ts'

/** The parts that the crew tools need from the process that offers them. */
export type CrewDesk = {
  /** The crew of a workspace; without a name, of the current project. */
  crew(workspace?: string): Crew
  clock: Clock
  cwd: string
  /** The PATH that the agents get. */
  path?: string
  /** The leash of an agent that is spawned without one. */
  leash: Leash
  /** Whether a person uses the tools: a leash that a person names overrides the settings. */
  person?: boolean
  /**
   * The project of the walled agent that uses the tools. The tools' process is started outside the wall with this folder and the leash of
   * the seat, so the limits do not depend on the agent's own word.
   */
  within?: string
  /** Every agent that can be spawned, with its description. */
  agents(): readonly { name: string; description?: string }[]
}

/** Refuses a walled agent that wants to use another agent with more rights: one outside the wall, or one on a looser leash. */
export function refuseBeyond({ within, leash }: CrewDesk, slot: Slot, act: 'prompt' | 'stop'): void {
  if (within === undefined || (slot.within !== undefined && tighter(slot.leash, leash) === slot.leash)) return
  const why =
    slot.within === undefined ? 'runs outside your sandbox' : `has the leash ${slot.leash}, and yours is ${leash}`
  throw new CrewError(
    `slot ${slot.id} ${why}, so you cannot ${act} it. Start an agent of your own with spawn_agent, or ask the person to do it.`,
  )
}

export const workspace = optional(about('The crew to use. Default: the crew of this project.', string()))
export const slot = integer(1)
export const seconds = number(0)

/** Gives the `run` of a tool the input type that its `parse` returns. */
export const crewTool = <I>(tool: Tool<I>): Tool => tool

/** When a wait ends: after the wanted time, or, if that is `short`, when the caller gives up. */
export function deadline(clock: Clock, seconds: number, until: number): { at: number; short: boolean } {
  const wanted = clock.elapsed() + seconds * 1000
  return { at: Math.min(wanted, until), short: until < wanted }
}
