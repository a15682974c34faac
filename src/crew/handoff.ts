import type { WorkStatus } from '../core/talk/entry.ts'
import type { Failure, Outcome } from '../core/talk/outcome.ts'
import type { FoundHandoff } from './handoff-text.ts'
import { defined } from '../base/defined.ts'
import { workStatuses } from '../core/talk/entry.ts'
import { fieldNames as names, findHandoff, plainName } from './handoff-text.ts'

/** The result that a worker returns: the five fields of the contract, and the paths that an implementer changed. */
export type Handoff = {
  what_was_done: string
  evidence: string[]
  unresolved_risks: string[]
  exact_next_step: string
  status: WorkStatus
  changed_paths?: string[]
}

/** A longer text in a handoff is cut, because a model with a small window reads it. */
const longest = { text: 4_000, item: 1_000, items: 40 }

/** The words for a status that workers use in addition to the contract's. */
const statusWords: Readonly<Record<string, WorkStatus>> = {
  complete: 'completed',
  done: 'completed',
  success: 'completed',
  succeeded: 'completed',
  ok: 'completed',
  incomplete: 'partial',
  in_progress: 'partial',
  blocked: 'partial',
  max_iterations: 'partial',
  error: 'failed',
  failure: 'failed',
  cancelled: 'stopped',
  canceled: 'stopped',
  aborted: 'stopped',
}

/**
 * Makes the handoff of a worker from the end of its turn, however it ended: prose, other field names, half an answer or a failure become
 * a handoff that says what is missing and what to do next. `words` is the last text that the worker wrote, and `calls` are its calls in
 * the form of `callWords`, which serve as evidence if the worker gave none.
 */
export function handoffOf(outcome: Outcome, words = '', calls: readonly string[] = []): Handoff {
  if (!outcome.ok) return ofFailure(outcome.failure, words, calls)
  if (outcome.refused)
    return {
      what_was_done: trimmedText(outcome.text) || 'Nothing: the model declined the task.',
      evidence: [],
      unresolved_risks: ['The model declined the task.'],
      exact_next_step: 'Do the task yourself, or give it to another agent, worded differently.',
      status: 'failed',
    }
  const denied = (outcome.denials ?? []).map((denial) => clipItem(`The worker was not allowed to do this: ${denial}`))
  const found = findHandoff(outcome.text)
  const handoff = found ? ofFields(found) : ofProse(outcome.text)
  if (denied.length === 0) return handoff
  const status = handoff.status === 'completed' ? 'partial' : handoff.status
  return { ...handoff, unresolved_risks: [...handoff.unresolved_risks, ...denied], status }
}

function ofFields({ fields, cut: isCut }: FoundHandoff): Handoff {
  const field = (known: readonly string[]) => fields[known.find((name) => name in fields) ?? '']
  const given = (known: readonly string[]) => known[0]! in fields
  const done = fieldText(field(names.done))
  const next = fieldText(field(names.next))
  const { status, doubt } = statusOf(field(names.status))
  const risks = listOf(field(names.risks))
  const missing = [names.done, names.evidence, names.risks, names.next, names.status].flatMap((known) =>
    given(known) ? [] : [known[0]],
  )
  const lost = isCut
    ? ['The handoff was cut off: the rest of it is lost, and its last sentence may be incomplete.']
    : []
  const gap = missing.length > 0 ? [`The handoff lacks ${missing.join(', ')}; termaite filled in what it could.`] : []
  const paths = listOf(field(names.paths))
  return defined({
    what_was_done: done || 'The worker did not say.',
    evidence: listOf(field(names.evidence)),
    unresolved_risks: [...risks, ...doubt, ...lost, ...gap],
    exact_next_step: next || 'Check the evidence before you rely on it.',
    status: (done === '' || isCut) && status === 'completed' ? 'partial' : status,
    changed_paths: paths.length > 0 ? paths : undefined,
  })
}

function statusOf(value: unknown): { status: WorkStatus; doubt: string[] } {
  if (value === true) return { status: 'completed', doubt: [] }
  if (value === false) return { status: 'failed', doubt: [] }
  const word = typeof value === 'string' ? plainName(value) : ''
  const status = workStatuses.find((known) => known === word) ?? statusWords[word]
  if (status) return { status, doubt: [] }
  const found = value === undefined ? 'gives no status' : `gives the status ${clipItem(JSON.stringify(value))}`
  return { status: 'partial', doubt: [`The handoff ${found}, so the work counts as partly done.`] }
}

function ofProse(text: string): Handoff {
  return {
    what_was_done: trimmedText(text) || 'The worker stopped without a message.',
    evidence: [],
    unresolved_risks: [
      'The worker gave no handoff in the agreed form, so nothing in its text is marked as evidence, and what is left open is not said.',
    ],
    exact_next_step: 'Read the text, check what you rely on, or send a narrower task to a new worker.',
    status: text.trim() === '' ? 'failed' : 'partial',
  }
}

/** How many of its last calls count as evidence if a worker gave none. */
const mostCalls = 10

/** A call of a worker, as evidence of what it did. */
export const callWords = (tool: string, input: unknown): string =>
  clipText(`called ${tool} with ${JSON.stringify(input)}`, 300)

function ofFailure({ kind, message, stoppedBy }: Failure, words: string, calls: readonly string[]): Handoff {
  const stopped = kind === 'aborted'
  const cut = kind === 'unfinished'
  const last = trimmedText(words)
  return {
    what_was_done: last === '' ? 'Nothing that the worker reported.' : `The last words of the worker: ${last}`,
    evidence: calls.slice(-mostCalls),
    unresolved_risks: [
      clipItem(stopped ? `The worker was stopped: ${message}` : `The worker stopped without a handoff: ${message}`),
      ...(last === '' ? [] : ['The last words of the worker may be cut off, and nobody has checked them.']),
    ],
    exact_next_step: stopped
      ? 'Decide whether the task is still needed.'
      : stoppedBy === 'steps'
        ? 'Split the task into smaller ones, or give a new worker more steps.'
        : stoppedBy === 'tokens' || stoppedBy === 'cost'
          ? 'Answer with what there is: the budget that all workers share is spent, so no new worker can go on.'
          : cut
            ? 'Continue with what was done so far, or send a smaller task.'
            : 'Send a narrower task to a new worker, choose another agent, or do the task yourself.',
    status: stopped ? 'stopped' : cut ? 'partial' : 'failed',
  }
}

/** A field as text; a list or an object in place of a text is formatted as text. */
function fieldText(value: unknown): string {
  if (typeof value === 'string') return trimmedText(value)
  if (value === undefined || value === null) return ''
  return trimmedText(Array.isArray(value) ? value.map(itemText).join('\n') : itemText(value))
}

function listOf(value: unknown): string[] {
  const items = Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]
  const texts = items.map((item) => clipItem(itemText(item))).filter((text) => text !== '')
  if (texts.length <= longest.items) return texts
  return [...texts.slice(0, longest.items), `… and ${texts.length - longest.items} more`]
}

const itemText = (item: unknown): string => (typeof item === 'string' ? item.trim() : JSON.stringify(item))

const trimmedText = (text: string) => clipText(text.trim(), longest.text)
const clipItem = (text: string) => clipText(text, longest.item)
const clipText = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)} … (cut)` : text)
