import type { Question } from '../../core/talk/question.ts'
import type { Crew } from '../../crew/crew.ts'
import type { SlotQuestion, Slot } from '../../crew/slot.ts'
import type { Io } from '../../core/io.ts'
import { allowedAnswers, escapeOf, picksIn } from '../../core/talk/consent.ts'
import { questionText } from '../../questions/question-text.ts'
import { answered } from '../../questions/terminal-questions.ts'
import { print, UsageError } from '../../core/io.ts'
import { leavingSaysNo } from './crew-card.ts'
import { slotOf } from './crew-verbs.ts'

/** Answers an agent's question with the given words, or asks the user at the terminal. */
export async function answer(io: Io, crew: Crew, [word, ...words]: readonly string[]): Promise<number> {
  const id = slotOf('answer', word)
  const { asks, state } = await crew.slot(id)
  const asked = asks?.[0]
  if (!asked) throw new UsageError(`slot ${id} has no open question: it is ${state}.`, 1)
  const picks = words.length > 0 ? picked(asked.question, words) : await asking(io, crew, id, asked)
  if (!picks && !leavingSaysNo(asked.question)) {
    print(io, `slot ${id} still waits for an answer.`)
    return 0
  }
  await crew.answer(id, picks, asked.ask)
  const labels = picks?.map((pick) => asked.question.options.find((option) => option.id === pick)?.label ?? pick)
  print(io, `slot ${id}: answered ${labels?.join(', ') ?? escapeOf(asked.question).says}`)
  return 0
}

/** Asks the user at the terminal. An answer given elsewhere meanwhile closes the question. */
async function asking(
  io: Io,
  crew: Crew,
  id: number,
  { ask: asked, question }: SlotQuestion,
): Promise<string[] | undefined> {
  const head = `slot ${id} asks:`
  if (!io.in.isTTY)
    throw new UsageError(
      `${head}\n${await questionText(question)}\nThere is no terminal to ask in. Answer with: termaite crew answer ${id} <number>`,
    )
  const over = new AbortController()
  const settled = ({ asks }: Slot) => !asks?.some(({ ask }) => ask === asked)
  const elsewhere = new AbortController()
  void crew.wait([id], { until: Number.MAX_SAFE_INTEGER, settled, signal: over.signal }).then(
    () => over.signal.aborted || elsewhere.abort(),
    () => {},
  )
  try {
    return await answered(io, question, elsewhere.signal, [head])
  } catch (error) {
    throw elsewhere.signal.aborted ? new UsageError(`slot ${id} was answered elsewhere.`, 1) : error
  } finally {
    over.abort()
  }
}

/** Reads typed words as an answer to the question. */
export function picked(question: Question, words: readonly string[]): string[] {
  const picks = picksIn(question, words)
  if (!picks) throw new UsageError(`found "${words.join(' ')}", allowed: ${allowedAnswers(question)}.`)
  return picks
}
