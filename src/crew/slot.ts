import type { Worktree } from '../core/work/worktree.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Question } from '../core/talk/question.ts'
import type { Ref } from '../core/talk/store.ts'
import type { Leash } from '../core/work/agent.ts'
import type { WorkItem } from '../core/work/dependencies.ts'

export const slotStates = ['held', 'starting', 'busy', 'idle', 'asking', 'exited', 'failed'] as const

export type SlotState = (typeof slotStates)[number]

/** What is to be said to an agent; `id` tells two equal ones apart. */
export type Send = { id: string; text: string }

/** A turn under way: kept before anything is typed, so that nothing is typed twice. */
export type Flight = {
  turn: string
  /** What its prompt carries, to be looked for on the screen. */
  mark: string
  /** Whether the agent was seen to have taken it. */
  taken?: true
}

/** A question that waits for a person. */
export type Asked = { ask: string; turn: string; question: Question }

export type Artifact = { turn: string; ref: Ref; fenced: boolean; truncated: boolean }

/** A crew member's place. */
export type Slot = {
  id: number
  agent: string
  /** What it was spawned for, short enough to be listed. */
  task: string
  cwd: string
  leash: Leash
  /** What a person said it may do, beyond what the settings allow. */
  allowed?: Leash
  model?: string
  mode?: 'window' | 'pane'
  needs: number[]
  /** How long it may be held, in ms. */
  patience: number
  state: SlotState
  /** Why it is in this state, where that needs saying. */
  why?: string
  /** Since when it is in this state. */
  since: number
  /** The process that carries it; nobody: the next one that keeps a crew. */
  owner?: string
  session: string
  /** Found by this id where it lives; left out once it is gone. */
  terminal?: { id: string }
  /** What the agent's own memory is resumed by. */
  thread?: string
  flight?: Flight
  queue: Send[]
  asks?: Asked[]
  /** How the last turn ended, and by which sign that was seen. */
  last?: { turn: string; failure?: Failure; by?: string }
  artifact?: Artifact
  /** The last it showed, once its terminal is gone. */
  screen?: Ref
  worktree?: Worktree
  /** When it last showed life. */
  seen?: number
  /** A wish of somebody who does not carry it. */
  wish?: 'kill'
}

export type Slots = { next: number; slots: Record<string, Slot> }

export const noSlots: Slots = { next: 1, slots: {} }

export const allOf = ({ slots }: Slots): Slot[] => Object.values(slots).sort((a, b) => a.id - b.id)

/** Whether nothing can come of it any more. */
export function isOver({ state, terminal }: Slot): boolean {
  return state === 'exited' || (state === 'failed' && terminal === undefined)
}

/** Whether somebody has to carry it on: an idle one needs nobody until it is spoken to. */
export function isUnderWay({ state, queue, flight, wish }: Slot): boolean {
  if (wish) return true
  return (
    state === 'held' || state === 'starting' || state === 'busy' || state === 'asking' || !!flight || !!queue.length
  )
}

/** Whether whoever waits for it need not wait longer. */
export function isSettled({ state }: Slot): boolean {
  return state === 'idle' || state === 'asking' || state === 'exited' || state === 'failed'
}

/** As it is named in words, and by others that need it. */
export const nameOf = (id: number | string): string => `slot ${id}`

/** What became of one that was to be ended: a worktree that stays is said with it. */
export function endedWords({ id, state, why }: Slot, killed: boolean): string {
  return killed ? `${nameOf(id)}: ${state}${why === undefined ? '' : ` (${why})`}` : `${nameOf(id)} was gone already`
}

/** A slot as others wait for it: one that left after its answer has given it. */
export function workOf(slot: Slot): WorkItem {
  const work = { id: nameOf(slot.id), needs: slot.needs.map(nameOf) }
  const answered = slot.last !== undefined && slot.last.failure === undefined
  if (slot.state === 'idle' || (slot.state === 'exited' && answered)) return { ...work, state: 'done' }
  if (slot.state === 'failed' || slot.state === 'exited')
    return { ...work, state: 'dead', ...(slot.why === undefined ? {} : { why: slot.why }) }
  return { ...work, state: slot.state === 'held' ? 'waiting' : 'running' }
}

export function worksOf(slots: Slots): Map<string, WorkItem> {
  return new Map(allOf(slots).map((slot) => [nameOf(slot.id), workOf(slot)]))
}
