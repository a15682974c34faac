import type { Clock } from '../../base/time/clock.ts'
import type { Entry, EntryOf, Event } from './entry.ts'
import type { Ask, Question } from './question.ts'
import type { Log } from './store.ts'
import { newId } from '../../base/id.ts'
import { messageOf } from '../../base/error-message.ts'
import { isEntry } from './entry.ts'

type TurnQuestionParts = {
  log: Log<Entry>
  clock: Clock
  /** The asking turn. */
  turn: string
  /** Asks the person at this process; other processes answer through the log. */
  person: Ask
  /** Completes a question before it is stored; if that fails, the question is asked unchanged. */
  complete?: ((question: Question) => Promise<Question>) | undefined
  keep(event: Event, by: string): Promise<void>
}

/** `kept`: whether the answer is already in the log. */
type FirstAnswer = { picks: string[] | undefined; kept: boolean; by?: string }

/** `close` is called when the turn ends: no answer to its questions is stored afterwards. */
export type TurnQuestions = { ask: Ask; close(): Promise<void> }

/**
 * Asks the questions of one turn. Each question is stored; the first answer in the log wins, whichever process wrote it, and the question
 * is withdrawn everywhere else. A withdrawn question gets an empty answer, so that no screen keeps showing it.
 */
export function turnQuestions({ log, clock, turn, person, complete, keep }: TurnQuestionParts): TurnQuestions {
  let before: Promise<unknown> = Promise.resolve()
  let closing: Promise<unknown> = Promise.resolve()
  let over = false
  const kept = async (asked: Question) => {
    const question = await (complete?.(asked).catch(() => asked) ?? asked)
    const ask = newId(clock.now())
    const after = await log.end().catch(() => 0)
    await keep({ type: 'question', ask, question }, 'termaite')
    return { ask, after, question }
  }
  const ask: Ask = async (wanted, withdrawn) => {
    // Questions that are asked at once are stored and shown in order.
    const asked = before.then(() => kept(wanted))
    before = asked
    const { ask, after, question } = await asked
    const settled = new AbortController()
    const signal = AbortSignal.any([withdrawn, settled.signal])
    const elsewhere = (async (): Promise<FirstAnswer | undefined> => {
      for await (const { item } of log.follow(after, signal)) {
        if (isAnswer(item, turn, ask)) return { picks: item.picks, kept: true }
      }
      return undefined
    })()
    const here = person(question, signal, ask).then((picks) =>
      signal.aborted ? undefined : { picks, kept: false, by: picks ? 'user' : 'termaite' },
    )
    const byItself = waited(question, clock, signal)
    const first = await firstDefined<FirstAnswer>([elsewhere, here, byItself])
      .catch((error) =>
        keep({ type: 'note', text: `The question could not be asked: ${messageOf(error)}` }, 'termaite'),
      )
      .finally(() => settled.abort())
    if (!first && !over) await (closing = keep({ type: 'answer', ask }, 'termaite'))
    if (!first || first.kept) return first?.picks
    const { by = 'termaite' } = first
    await keep({ type: 'answer', ask, picks: first.picks }, by)
    // Another process may have answered a moment earlier.
    const winner = await firstAnswer(log, after, turn, ask).catch(() => undefined)
    return winner ? winner.picks : first.picks
  }
  const close = async () => {
    over = true
    await closing
  }
  return { ask, close }
}

async function firstAnswer(log: Log<Entry>, after: number, turn: string, ask: string) {
  let first: EntryOf<'answer'> | undefined
  for await (const { at, item } of log.back()) {
    if (at < after) break
    if (isAnswer(item, turn, ask)) first = item
  }
  return first
}

function isAnswer(item: unknown, turn: string, ask: string): item is EntryOf<'answer'> {
  return isEntry(item) && item.type === 'answer' && item.ask === ask && item.turn === turn
}

/** Picks the question's default at its time. */
async function waited({ otherwise }: Question, clock: Clock, signal: AbortSignal): Promise<FirstAnswer | undefined> {
  if (!otherwise) return undefined
  await clock.sleep(Math.max(0, otherwise.at - clock.now()), signal)
  return signal.aborted ? undefined : { picks: [otherwise.pick], kept: false }
}

async function firstDefined<T>(promises: Promise<T | undefined>[]): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let waiting = promises.length
    for (const promise of promises) {
      promise.then((value) => {
        if (value !== undefined) resolve(value)
        else if (--waiting === 0) resolve(undefined)
      }, reject)
    }
  })
}
