import type { Failure } from '../core/talk/outcome.ts'
import type { Question } from '../core/talk/question.ts'
import type { Ref } from '../core/talk/store.ts'
import type { Leash } from '../core/work/agent.ts'
import type { WorkItem } from '../core/work/dependencies.ts'
import type { Worktree } from '../core/work/worktree.ts'
import type { Worker } from './worker.ts'
import { defined } from '../base/defined.ts'

export const slotStates = ['held', 'starting', 'busy', 'idle', 'asking', 'exited', 'failed'] as const

export type SlotState = (typeof slotStates)[number]

/** A prompt for an agent. Its id is also the id of its turn, so that a later process can find out whether the turn had begun. */
export type Send = { id: string; text: string }

/** A running turn. It is stored before its prompt is typed, so that no prompt is typed twice. */
export type Flight = {
  turn: string
  /** The mark in the prompt, by which the prompt is found on the screen. */
  mark: string
  /** Whether the agent was seen working on the turn. */
  taken?: true
}

/** A question that waits for a person. */
export type SlotQuestion = { ask: string; turn: string; question: Question }

export type Artifact = { turn: string; ref: Ref; fenced: boolean; truncated: boolean }

/** The outcome of a turn, and the sign by which its end was recognised. */
export type LastTurn = { turn: string; failure?: Failure; by?: string }

/** The fields that a slot has in every state. */
type SlotBase = {
  id: number
  agent: string
  /** The task that the agent was spawned for, short enough for a list. */
  task: string
  cwd: string
  leash: Leash
  /** A leash that a person gave the agent, beyond the settings. */
  allowed?: Leash
  model?: string
  mode?: 'window' | 'pane'
  /** The folder of the walled agent that spawned this one, whose own wall allows no more than that. */
  within?: string
  /** The PATH of the process that spawned the agent, which need not be the one that runs it. */
  path?: string
  /** The slots that must have finished before this one starts. */
  needs: number[]
  /** How long the slot waits for the slots that it needs, in ms. */
  patience: number
  /** When the present state of the slot began. */
  since: number
  /** The process that runs the slot; without one, the next keeper takes the slot. */
  owner?: string
  session: string
  /** The key by which the agent's own memory is resumed. */
  thread?: string
  last?: LastTurn
  artifact?: Artifact
  worktree?: Worktree
  /** Set if a coordinator sent the agent: it has one task, and ends with its handoff. */
  worker?: Worker
}

type Living = SlotBase & {
  /** The id by which the agent's terminal is found. */
  terminal: { id: string }
  /** Set by a process other than the one that runs the slot, to ask for the agent to be stopped. */
  wish?: 'kill'
  queue: Send[]
  screen?: undefined
}
type NoFlight = { flight?: undefined }
type NoAsks = { asks?: undefined }
type NoReason = { why?: undefined }

/** A slot that waits for the slots that it needs. */
export type HeldSlot = Living & NoFlight & NoAsks & NoReason & { state: 'held' }
export type StartingSlot = Living & NoFlight & NoAsks & NoReason & { state: 'starting' }
/** A slot with a turn under way. */
export type WorkingSlot = Living & NoAsks & NoReason & { state: 'busy'; flight: Flight }
/** A slot that is about to get the first prompt of its queue. */
export type QueuedSlot = Living & NoFlight & NoAsks & NoReason & { state: 'busy'; queue: [Send, ...Send[]] }
export type IdleSlot = Living & NoFlight & NoAsks & NoReason & { state: 'idle'; queue: [] }
/** A slot whose agent asks a person a question: during a turn, or while the agent starts. */
export type AskingSlot = Living &
  NoReason & { state: 'asking'; asks: [SlotQuestion, ...SlotQuestion[]]; flight?: Flight }
/** A slot whose last turn failed; its agent is alive and can get another prompt. */
export type FailedSlot = Living & NoFlight & NoAsks & { state: 'failed'; why: string }

/** A slot whose agent is alive or has yet to start. */
export type LivingSlot = HeldSlot | StartingSlot | WorkingSlot | QueuedSlot | IdleSlot | AskingSlot | FailedSlot

/** A slot whose agent has exited; `screen` is the last screen of its terminal. */
export type GoneSlot = SlotBase &
  NoFlight &
  NoAsks & {
    state: 'exited' | 'failed'
    why: string
    queue: []
    screen?: Ref
    terminal?: undefined
    wish?: undefined
  }

/** A crew member's place. */
export type Slot = LivingSlot | GoneSlot

/** The slot of a worker, in any state. */
export type WorkerSlot = Slot & { worker: Worker }

export type Slots = { next: number; slots: Record<string, Slot> }

export const noSlots: Slots = { next: 1, slots: {} }

/** An error that the caller can correct; its message is shown unchanged. */
export class CrewError extends Error {
  override name = 'CrewError'
}

/** The error of a call that may succeed later, even if the caller does nothing. */
export class EarlyError extends CrewError {}

export const allOf = ({ slots }: Slots): Slot[] => Object.values(slots).sort((a, b) => a.id - b.id)

/** Whether the agent of a slot has exited. */
export function isGone(slot: Slot): slot is GoneSlot {
  return slot.terminal === undefined
}

export function isLiving(slot: Slot): slot is LivingSlot {
  return slot.terminal !== undefined
}

/** Whether a living slot needs a keeper now; an idle one needs none until it gets a prompt. */
export function needsKeeper({ state, queue, wish }: LivingSlot): boolean {
  return (state !== 'idle' && state !== 'failed') || queue.length > 0 || wish !== undefined
}

/** The turn of the last prompt that a slot got, whether or not it was answered. */
export function askedTurn({ queue, flight, last }: Slot): string | undefined {
  return queue.at(-1)?.id ?? flight?.turn ?? last?.turn
}

/** Whether an agent may still answer its last prompt, by itself or after a person has answered its question. */
export function mayAnswer({ state }: Pick<Slot, 'state'>): boolean {
  return state === 'held' || state === 'starting' || state === 'busy' || state === 'asking'
}

/** Whether a wait for the slot is over. */
export function isSettled({ state }: Slot): boolean {
  return state === 'idle' || state === 'asking' || state === 'exited' || state === 'failed'
}

/** The name of a slot in messages and in dependencies. */
export const nameOf = (id: number | string): string => `slot ${id}`

/** The state of a slot as text, with the reason for it. */
export function stateWords({ state, why, needs }: Pick<Slot, 'state' | 'why' | 'needs'>): string {
  if (state === 'held' && needs.length === 0) return 'waiting until another agent is done'
  if (state === 'held') return `waiting for ${needs.map(nameOf).join(' and ')}`
  return `${state}${why ? ` (${why})` : ''}`
}

/** The result of a kill, for a person; `why` names a worktree that stays. */
export function killedWords(slot: Slot, killed: boolean): string {
  return killed ? `${nameOf(slot.id)}: ${stateWords(slot)}` : `${nameOf(slot.id)} had already stopped`
}

/** The state of a slot for the slots that wait for it; one that exited after its answer counts as done. */
export function workOf(slot: Slot): WorkItem {
  const work = { id: nameOf(slot.id), needs: slot.needs.map(nameOf) }
  const answered = slot.last !== undefined && slot.last.failure === undefined
  if (slot.state === 'idle' || (slot.state === 'exited' && answered)) return { ...work, state: 'done' }
  if (slot.state === 'failed' || slot.state === 'exited') return { ...work, state: 'dead', why: slot.why || undefined }
  return { ...work, state: slot.state === 'held' ? 'waiting' : 'running' }
}

export function worksOf(slots: Slots): Map<string, WorkItem> {
  return new Map(allOf(slots).map((slot) => [nameOf(slot.id), workOf(slot)]))
}

/** A slot as it is stored, possibly with fields that contradict its state. */
export type StoredSlot = SlotBase & {
  state: SlotState
  why?: string
  flight?: Flight
  asks?: SlotQuestion[]
  terminal?: { id: string }
  wish?: 'kill'
  queue?: Send[]
  screen?: Ref
}

/** Parses the stored slots of a workspace. */
export function parseSlots(stored: unknown): Slots {
  const { next, slots } = stored as { next: number; slots: Record<string, StoredSlot> }
  return { next, slots: Object.fromEntries(Object.entries(slots).map(([id, slot]) => [id, parseSlot(slot)])) }
}

/** Gives a stored slot a state that fits its fields: an older termaite could be killed between two changes. */
export function parseSlot(stored: StoredSlot): Slot {
  const { state, why = '', flight, asks = [], terminal, wish, queue = [], screen, ...base } = stored
  if (state === 'exited' || (state === 'failed' && !terminal))
    return defined({ ...base, state, why, queue: [], screen })
  // The id of the session is as unique as a terminal's id.
  const living = defined({ ...base, terminal: terminal ?? { id: base.session }, queue, wish })
  const [asked, ...moreAsked] = asks
  if (state === 'asking' && asked) return defined({ ...living, state, asks: [asked, ...moreAsked], flight })
  if (flight) return { ...living, state: 'busy', flight }
  if (state === 'failed') return { ...living, state, why }
  if (state === 'held' || state === 'starting') return { ...living, state }
  if (state === 'asking') return { ...living, state: 'starting' }
  const [first, ...more] = queue
  return first ? { ...living, state: 'busy', queue: [first, ...more] } : { ...living, state: 'idle', queue: [] }
}
