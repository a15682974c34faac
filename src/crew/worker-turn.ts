import type { Clock } from '../base/time/clock.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { Blobs, Ref } from '../core/talk/store.ts'
import type { Budget } from '../core/work/budget.ts'
import type { WorkerHost } from './crew-parts.ts'
import type { WorkerSlot } from './slot.ts'
import type { Envelope } from './worker.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { unfinished } from '../core/talk/outcome.ts'
import { readText } from '../core/talk/store.ts'
import { noBudget, withSteps } from '../core/work/budget.ts'
import { callWords, handoffOf } from './handoff.ts'
import { workerId } from './worker.ts'

/** The single turn of a worker: its limits while it runs, and its envelope at the end. */
export class WorkerTurn {
  readonly budget: Budget
  /** Aborts when the worker's time is over. */
  readonly late: AbortSignal
  #slot: WorkerSlot
  #host: WorkerHost | undefined
  #over = new AbortController()
  /** The last text that the worker wrote. */
  #words = ''
  #calls: string[] = []

  constructor(slot: WorkerSlot, host: WorkerHost | undefined, clock: Clock) {
    const { worker } = slot
    this.#slot = slot
    this.#host = host
    const shared = host?.budget ?? noBudget
    const raise = 'the steps that the worker was spawned with'
    this.budget = worker.steps === undefined ? shared : withSteps(shared, worker.steps, raise)
    // Some agents show nothing before their answer, so termaite reports at once that the worker has begun.
    host?.seen(slot, workerState(slot, 'starting'))
    const late = new AbortController()
    this.late = host?.over ? AbortSignal.any([late.signal, host.over]) : late.signal
    // The timer is not awaited: it only aborts a turn that is still running.
    void clock.sleep(worker.minutes * 60_000, this.#over.signal).then(() => {
      if (!this.#over.signal.aborted) late.abort()
    })
  }

  see(event: Event): void {
    if ((event.type === 'reply' || event.type === 'words') && event.text.trim() !== '') this.#words = event.text
    if (event.type === 'call') this.#calls.push(callWords(event.tool, event.input))
    this.#host?.seen(this.#slot, event)
  }

  /**
   * Makes and stores the envelope; nobody sees it before it is stored. With a signal, the worker is over and its work is joined into the
   * project; the signal aborts if the worker is stopped meanwhile.
   */
  async end(outcome: Outcome, blobs: Blobs, over?: AbortSignal): Promise<Ref> {
    this.#over.abort()
    const slot = this.#slot
    const { minutes } = slot.worker
    const own = unfinished('time', `its ${minutes} ${minutes === 1 ? 'minute is' : 'minutes are'} over`)
    const failure = this.#host?.over?.aborted ? (this.#host.over.reason as Failure) : own
    const handoff = handoffOf(
      this.late.aborted && !outcome.ok ? { ok: false, failure } : outcome,
      this.#words,
      this.#calls,
    )
    const signed = { ...signature(slot), ...handoff }
    const envelope = over ? await settleTurn(signed, slot, this.#host, { done: outcome.ok, signal: over }) : signed
    const kept = await keepEnvelope(blobs, envelope)
    this.#host?.seen(slot, { type: 'end', outcome, status: envelope.status })
    return kept
  }

  /** Stops the timer of a turn that did not end here. */
  leave(): void {
    this.#over.abort()
  }
}

/** The state of a worker in the form for a screen, from its spawn on. */
export function workerState(
  { state, worker }: WorkerSlot,
  now: 'held' | 'starting' = state === 'held' ? 'held' : 'starting',
): Event {
  return defined({ type: 'state', state: now, terminal: worker.where === 'terminal' ? true : undefined })
}

/** Names the worker, the agent and the model that a handoff came from. */
function signature(slot: WorkerSlot) {
  const { agent, worker } = slot
  const { name, role, model = 'its default model' } = worker
  return { worker: workerId(slot.id), name, role, agent, model }
}

async function settleTurn(
  envelope: Envelope,
  slot: WorkerSlot,
  host: WorkerHost | undefined,
  how: { done: boolean; signal: AbortSignal },
): Promise<Envelope> {
  try {
    return (await host?.settle?.(slot, envelope, how)) ?? envelope
  } catch (error) {
    const copy = slot.worker.apart?.path
    const kept = copy === undefined ? '' : `; its copy ${copy} is kept for a day`
    const risk = `The work could not be brought into the project: ${messageOf(error)}${kept}`
    const status = envelope.status === 'completed' ? 'partial' : envelope.status
    return defined({ ...envelope, copy, unresolved_risks: [...envelope.unresolved_risks, risk], status })
  }
}

/**
 * The envelope of a worker whose turn did not end here: it failed before its turn, was stopped, or was lost with its process. `words` is
 * the last text that it wrote, and `calls` are the calls that it made.
 */
export function endedEnvelope(slot: WorkerSlot, outcome: Outcome, words = '', calls: readonly string[] = []): Envelope {
  const envelope = { ...signature(slot), ...handoffOf(outcome, words, calls) }
  const copy = slot.worker.apart?.path
  if (copy === undefined) return envelope
  const risk = `Its changes are only in its copy of the project, ${copy}, which is kept for a day if anything was changed there.`
  const status = envelope.status === 'completed' ? 'partial' : envelope.status
  return { ...envelope, copy, unresolved_risks: [...envelope.unresolved_risks, risk], status }
}

export function keepEnvelope(blobs: Blobs, envelope: Envelope): Promise<Ref> {
  return blobs.put(JSON.stringify(envelope), 'application/json')
}

export async function readEnvelope(blobs: Blobs, ref: Ref): Promise<Envelope> {
  return JSON.parse(await readText(blobs, ref)) as Envelope
}
