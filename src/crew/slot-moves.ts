import type { Notification } from '../core/talk/entry.ts'
import type { Ref } from '../core/talk/store.ts'
import type { Worktree } from '../core/work/worktree.ts'
import type {
  Artifact,
  SlotQuestion,
  AskingSlot,
  FailedSlot,
  Flight,
  GoneSlot,
  HeldSlot,
  IdleSlot,
  LastTurn,
  LivingSlot,
  QueuedSlot,
  Send,
  Slot,
  StartingSlot,
  WorkingSlot,
} from './slot.ts'
import type { WorkerPlace } from './worker.ts'
import { defined } from '../base/defined.ts'
import { askedTurn } from './slot.ts'

/** Starts a slot whose dependencies have finished. */
export function startSlot(slot: HeldSlot, since: number): StartingSlot {
  return { ...slot, state: 'starting', since }
}

/** Whether a prompt is in the queue of a slot, is in its running turn, or was its last turn. */
export function hasSend({ queue, flight, last }: Slot, send: string): boolean {
  return flight?.turn === send || last?.turn === send || queue.some(({ id }) => id === send)
}

/** Queues a prompt once. An agent without a turn will get it next. */
export function withSend(slot: LivingSlot, send: Send): LivingSlot {
  if (hasSend(slot, send.id)) return slot
  const [first, ...more] = slot.queue
  const queue: [Send, ...Send[]] = first ? [first, ...more, send] : [send]
  if (slot.state !== 'idle' && slot.state !== 'failed') return { ...slot, queue }
  return { ...fieldsOf(slot), state: 'busy', queue }
}

/** Begins the turn of a queued prompt, which leaves the queue. */
export function turnBegun(slot: LivingSlot, send: Send, flight: Flight): WorkingSlot {
  const queue = slot.queue.filter(({ id }) => id !== send.id)
  return { ...fieldsOf(slot), state: 'busy', flight, queue }
}

/** Drops a prompt whose turn was refused before it began, so that it is not sent over and over. */
export function withoutSend(slot: LivingSlot, send: Send): LivingSlot {
  if (slot.state === 'idle') return slot
  const [first, ...more] = slot.queue.filter(({ id }) => id !== send.id)
  if (first) return { ...slot, queue: [first, ...more] }
  if (slot.state === 'busy' && !slot.flight) return { ...fieldsOf(slot), state: 'idle', queue: [] }
  return { ...slot, queue: [] }
}

/** Notes that the agent was seen working on its prompt. */
export function seenAtWork(slot: LivingSlot): LivingSlot {
  return slot.flight ? { ...slot, flight: { ...slot.flight, taken: true } } : slot
}

/** The most notices of a worker that are stored. */
const mostNotices = 20

/** Stores a worker's notice for its coordinator; other slots have no coordinator. */
export function withNotice(slot: LivingSlot, { status, text, final }: Notification): LivingSlot {
  if (!slot.worker) return slot
  const notice = defined({ status, summary: text, final_response: final })
  const notices = [...(slot.worker.notices ?? []), notice].slice(-mostNotices)
  return { ...slot, worker: { ...slot.worker, notices } }
}

/** Sets the folder of a worker before it begins. */
export function withPlace(slot: LivingSlot, { cwd, path, told }: WorkerPlace): LivingSlot {
  if (!slot.worker || slot.state !== 'starting') return slot
  const queue = slot.queue.map((send, at) => (at === 0 ? { ...send, text: `${send.text}\n\n${told}` } : send))
  return { ...slot, cwd, queue, worker: { ...slot.worker, apart: { ...slot.worker.apart, path } } }
}

/** Closes the queue of a worker whose turn is over; a worker that got another prompt in the meantime continues. */
export function closeMessages(slot: LivingSlot): LivingSlot {
  return slot.worker && slot.queue.length === 0 ? { ...slot, worker: { ...slot.worker, landed: true } } : slot
}

export function asking(slot: LivingSlot, one: SlotQuestion): AskingSlot {
  const [first, ...more] = slot.asks ?? []
  const asks: [SlotQuestion, ...SlotQuestion[]] = first ? [first, ...more, one] : [one]
  return defined({ ...fieldsOf(slot), state: 'asking', asks, flight: slot.flight })
}

/** Removes an answered question; after the last one the agent continues. */
export function removeQuestion(slot: AskingSlot, ask: string): LivingSlot {
  const [first, ...more] = slot.asks.filter((one) => one.ask !== ask)
  return first ? { ...slot, asks: [first, ...more] } : withoutQuestions(slot)
}

/** Drops all questions, for example those of a process that has exited. */
export function withoutQuestions(slot: AskingSlot): WorkingSlot | StartingSlot {
  const { flight } = slot
  return flight ? { ...fieldsOf(slot), state: 'busy', flight } : { ...fieldsOf(slot), state: 'starting' }
}

export type TurnResult = { last?: LastTurn; artifact?: Artifact }

/** Settles a slot whose agent is ready or whose turn is over. */
export function settleSlot(
  slot: LivingSlot,
  result: TurnResult,
  failure: string | undefined,
): FailedSlot | QueuedSlot | IdleSlot {
  const fields = { ...fieldsOf(slot), ...result }
  if (failure !== undefined) return { ...fields, state: 'failed', why: failure }
  const [first, ...more] = slot.queue
  return first ? { ...fields, state: 'busy', queue: [first, ...more] } : { ...fields, state: 'idle', queue: [] }
}

type SlotEnd = { state: 'exited' | 'failed'; why: string; screen?: Ref; worktree?: Worktree }

/**
 * Ends a slot permanently; `worktree` is set if the worktree stays. A prompt that still has no answer becomes the last turn, which
 * failed.
 */
export function goneSlot(slot: LivingSlot, { state, why, screen, worktree }: SlotEnd): GoneSlot {
  const { terminal: _terminal, wish: _wish, worktree: _worktree, ...fields } = fieldsOf(slot)
  const asked = askedTurn(slot)
  const isOpen = asked !== undefined && asked !== slot.last?.turn
  const kind = why.startsWith('killed') ? 'aborted' : 'crash'
  const last: LastTurn | undefined = isOpen ? { turn: asked, failure: { kind, message: why } } : slot.last
  return defined({ ...fields, last, state, why, screen, worktree, queue: [] })
}

/** The fields that a living slot keeps when its state changes. */
function fieldsOf(slot: LivingSlot) {
  const { state: _state, why: _why, flight: _flight, asks: _asks, screen: _screen, ...fields } = slot
  return fields
}
