import type { ModelMessage } from '../../core/work/model.ts'
import type { Envelope } from '../worker.ts'
import type { WorkerBoard, WorkerView } from './board.ts'
import { ids } from './board.ts'
import { ledgerLine } from './final-answer.ts'

/** How many workers of each kind a digest names, and the longest text that it quotes. */
const most = { named: 8, notices: 4, words: 160 }

/**
 * The state of the workers, only for the coordinator's next request: it is not kept in the conversation, so that old states do not pile
 * up there. `messages` are those of the request: a handoff that was read, but that a summary has removed from them, is mentioned here.
 * Undefined while there is nothing to report.
 */
export async function digestOf(
  board: WorkerBoard,
  now: number,
  messages?: readonly ModelMessage[],
): Promise<string | undefined> {
  const [all, earlier] = await Promise.all([board.all(), board.earlier()])
  const remarks = [
    ...(earlier.length > 0 ? [earlierLine(earlier)] : []),
    ...(messages ? await forgottenLines(board, messages) : []),
  ]
  if (all.length === 0) return remarks.length === 0 ? undefined : remarks.join('\n')
  const running = all.filter(({ over }) => !over)
  const blocked = running.filter(isBlocked)
  const waiting = all.filter(({ over, heard }) => over && !heard)
  const envelopes = await Promise.all(waiting.slice(0, most.named).map((view) => board.envelope(view)))
  const weak = envelopes.filter(({ status }) => status === 'failed' || status === 'stopped')
  const risks = envelopes.reduce((sum, { unresolved_risks }) => sum + unresolved_risks.length, 0)
  const counts = [
    `${running.length} running`,
    ...(blocked.length > 0 ? [`${blocked.length} of them blocked`] : []),
    `${waiting.length} handoffs not read`,
    ...(weak.length > 0 ? [`${weak.length} of them failed or stopped`] : []),
    ...(risks > 0 ? [`${risks} open risks in them`] : []),
    `${all.length - running.length - waiting.length} read`,
  ]
  const notices = all.flatMap(({ id, slot }) => (slot.worker.notices ?? []).map((notice) => ({ id, ...notice })))
  return [
    `The state of your workers now: ${counts.join(', ')}.`,
    ...lostLines(all),
    ...remarks,
    ...running.slice(0, most.named).map((view) => `- ${runningLine(view, now)}`),
    ...envelopes.map((envelope) => `- ${previewLine(envelope)}`),
    ...notices.slice(-most.notices).map(({ id, status, summary }) => `- ${id} reports ${status}: ${short(summary)}`),
    ...(board.budget ? [budgetLine(board.budget)] : []),
    nextStep(running, waiting, blocked),
  ].join('\n')
}

/** Tells a coordinator about the workers that it had sent before its process died. */
function lostLines(all: readonly WorkerView[]): string[] {
  const lost = all.filter(({ lost, heard }) => lost && !heard)
  if (lost.length === 0) return []
  return [
    `You sent ${ids(lost)} in an earlier turn, and termaite stopped before you had answered. None of them works any more. Read their handoffs, which say what each had done by then, and send new workers for what is still needed.`,
  ]
}

const earlierLine = (earlier: readonly WorkerView[]) =>
  `Your turn before this one was cancelled, and its workers were stopped with it. You have not read the handoffs of ${ids(earlier)}: get_worker_result returns them if you need them.`

/** Lists the workers whose handoffs were read, and are no longer in any message of the request. */
async function forgottenLines(board: WorkerBoard, messages: readonly ModelMessage[]): Promise<string[]> {
  const read = await board.read()
  if (read.length === 0) return []
  const text = JSON.stringify(messages)
  const holds = ({ id, slot }: WorkerView) =>
    text.includes(`Handoff of ${id},`) || text.includes(`${id} (${slot.worker.role}, `)
  const forgotten = read.filter((view) => !holds(view))
  if (forgotten.length === 0) return []
  const named = await Promise.all(forgotten.slice(-most.named).map((view) => board.envelope(view)))
  const older = forgotten.length - named.length
  return [
    'You have read these handoffs, and the conversation, which was shortened, no longer contains them. get_worker_result returns one again:',
    ...named.map((envelope) => `- ${ledgerLine(envelope)}`),
    ...(older > 0 ? [`- ${older} older ones: worker_1 is the first worker of this conversation.`] : []),
  ]
}

/** Whether a worker's last message says that it cannot continue. */
const isBlocked = ({ slot: { worker } }: WorkerView): boolean => worker.notices?.at(-1)?.status === 'blocked'

function runningLine({ id, slot }: WorkerView, now: number): string {
  const { worker, state, since, asks } = slot
  const seconds = Math.max(0, Math.round((now - since) / 1000))
  const how =
    state === 'held'
      ? 'waits until another worker is done'
      : asks
        ? 'waits for the answer of a person'
        : `at work for ${seconds} s`
  return `${id} (${worker.role}, ${worker.name}): ${how}`
}

function previewLine(envelope: Envelope): string {
  const { worker, role, name, status, what_was_done, unresolved_risks: risks, exact_next_step } = envelope
  const risk = risks.length === 0 ? '' : ` Open risks: ${risks.length}, the first: ${short(risks[0]!)}`
  return `${worker} (${role}, ${name}) ${status}, not read yet: ${short(what_was_done)}${risk} Next: ${short(exact_next_step)}`
}

/** Says how much of each limit is used, so that the coordinator can stop sending workers before it is refused. */
function budgetLine({ used, allowed }: NonNullable<WorkerBoard['budget']>): string {
  const part = (amount = 0, most: number | undefined, unit: string) =>
    most === undefined ? [] : [`${amount} of ${most} ${unit}`]
  const minutes = (ms: number) => Math.round(ms / 60_000)
  const parts = [
    ...part(used.workers, allowed.workers, 'workers'),
    ...part(used.steps, allowed.steps, 'steps of workers'),
    ...part(used.tokens, allowed.tokens, 'tokens'),
    ...part(Number((used.cost ?? 0).toFixed(2)), allowed.cost, 'dollars'),
    ...part(minutes(used.ms), allowed.ms && minutes(allowed.ms), 'minutes'),
  ]
  return `Used of the budget that you share with your workers: ${parts.join(', ')}.`
}

function nextStep(
  running: readonly WorkerView[],
  waiting: readonly WorkerView[],
  blocked: readonly WorkerView[],
): string {
  if (blocked.length > 0)
    return `Decide about ${ids(blocked)}: send what is needed with send_to_worker, or end the work with stop_worker.`
  if (waiting.length > 0)
    return `Read the handoffs of ${ids(waiting)} with get_worker_result or await_workers before you answer.`
  if (running.length > 0)
    return 'Continue your own work, or wait with await_workers. Do not answer before all are done and read.'
  return 'All handoffs are read: answer, or spawn workers for what is still open.'
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > most.words ? `${line.slice(0, most.words)}…` : line
}
