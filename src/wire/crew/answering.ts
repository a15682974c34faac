import type { Question } from '../../core/talk/question.ts'
import type { Crew } from '../../crew/crew.ts'
import type { Io } from '../io.ts'
import { picksTyped, unclearWords } from '../../core/talk/typed.ts'
import { askedText } from '../../faces/asked.ts'
import { print, UsageError } from '../io.ts'
import { personAt } from '../person.ts'
import { slotOf } from './verbs.ts'

/** Answers what an agent asks: with the words given, or with what the person at the terminal picks. */
export async function answer(io: Io, crew: Crew, [word, ...words]: readonly string[]): Promise<number> {
  const id = slotOf('answer', word)
  const asked = (await crew.slot(id)).asks?.[0]
  if (!asked) throw new UsageError(`slot ${id} asks nothing.`, 1)
  const picks = words.length > 0 ? picked(asked.question, words) : await asking(io, id, asked.question)
  await crew.answer(id, picks, asked.ask)
  const labels = picks?.map((pick) => asked.question.options.find((option) => option.id === pick)?.label ?? pick)
  print(io, `slot ${id}: answered ${labels ? labels.join(', ') : 'with no'}`)
  return 0
}

async function asking(io: Io, id: number, question: Question): Promise<string[] | undefined> {
  if (io.in.isTTY) return personAt(io)(question, io.signal)
  const options = question.options.map(({ id, label }, index) => `  ${index + 1} or ${id}: ${label}`).join('\n')
  throw new UsageError(
    `slot ${id} asks: ${await askedText(question)}\nNobody can be asked here; answer with: termaite crew answer ${id} <option>\n${options}`,
  )
}

/** Options by their ids, or by their numbers. */
function picked(question: Question, words: readonly string[]): string[] | undefined {
  if (words.every((word) => question.options.some(({ id }) => id === word))) return [...words]
  const picks = picksTyped(question, words.join(' '))
  if (picks === 'unclear') throw new UsageError(`crew answer: found "${words.join(' ')}". ${unclearWords(question)}`)
  return picks
}
