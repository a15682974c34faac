import type { Envelope } from '../worker.ts'
import type { WorkerBoard } from './board.ts'
import { ids } from './board.ts'

/** How often a coordinator that answers too early is reminded to wait or to read. */
const mostReminders = 2

/**
 * Keeps a coordinator from answering before it has read the results of its workers. If it ignores the reminders, termaite waits for the
 * workers and completes the answer from their envelopes.
 */
export class FinalAnswer {
  #board: WorkerBoard
  #reminders = 0

  constructor(board: WorkerBoard) {
    this.#board = board
  }

  /** Why the person does not get the answer yet; undefined if it may be shown, or if the coordinator was reminded often enough. */
  async holdsBack(): Promise<string | undefined> {
    const unheard = await this.#board.unheard()
    if (unheard.length === 0 || this.#reminders >= mostReminders) return undefined
    this.#reminders++
    const running = unheard.filter(({ over }) => !over)
    const ended = unheard.filter(({ over }) => over)
    return [
      'Your answer is kept, but the person has not been given it yet.',
      ...(running.length > 0
        ? [
            `${ids(running)} ${running.length === 1 ? 'is' : 'are'} still at work: call await_workers, or stop_worker for one that is no longer needed.`,
          ]
        : []),
      ...(ended.length > 0
        ? [
            `${ids(ended)} ${ended.length === 1 ? 'has a handoff that you' : 'have handoffs that you'} did not read: call await_workers or get_worker_result.`,
          ]
        : []),
      'Then answer again, with what the handoffs say.',
    ].join(' ')
  }

  /**
   * Returns the text that must follow the answer so that every worker is accounted for: the handoffs that the coordinator never read, and
   * one line for each worker that the answer leaves out. If there is no answer, this text replaces it. Waits for workers that still run.
   * Undefined if nothing is missing.
   */
  async completion(answer: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { envelopes: unread } = await this.#board.gather(undefined, Number.MAX_SAFE_INTEGER, signal)
    const all = await this.#board.all()
    const unnamed: string[] = []
    for (const view of all)
      if (!unread.some(({ worker }) => worker === view.id) && !(answer !== undefined && mentions(answer, view.id)))
        unnamed.push(`- ${ledgerLine(await this.#board.envelope(view))}`)
    const parts = [
      ...(unread.length === 0
        ? []
        : [
            answer === undefined
              ? 'It had not read these handoffs:'
              : 'The coordinator did not read these handoffs before its answer:',
            ...unread.map(handoffText),
          ]),
      ...(unnamed.length === 0 ? [] : [[unnamedWords(answer), ...unnamed].join('\n')]),
    ]
    if (parts.length === 0) return undefined
    return [...(answer === undefined ? ['The coordinator stopped before its answer.'] : []), ...parts].join('\n\n')
  }
}

const unnamedWords = (answer: string | undefined) =>
  answer === undefined ? 'It had read the handoffs of these workers:' : 'Workers that the answer does not name:'

/** Whether an answer names a worker: `worker_12` does not name `worker_1`. */
const mentions = (answer: string, id: string) => new RegExp(`\\b${id}\\b`).test(answer)

/** One line about a worker. */
export function ledgerLine({ worker, role, name, agent, model, status, what_was_done }: Envelope): string {
  const by = model === undefined ? agent : `${agent}, ${model}`
  const done = what_was_done.replaceAll(/\s+/g, ' ').trim()
  return `${worker} (${role}, ${name}; ${by}): ${status}. ${done.length > 200 ? `${done.slice(0, 200)}…` : done}`
}

/** A handoff as a person reads it. */
export function handoffText(envelope: Envelope): string {
  const { evidence, unresolved_risks, exact_next_step, changed_paths = [] } = envelope
  const list = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)]
  return [
    ledgerLine(envelope),
    ...list('Evidence', evidence),
    ...list('Changed', changed_paths),
    ...list('Open risks', unresolved_risks),
    `Next step: ${exact_next_step}`,
  ].join('\n')
}
