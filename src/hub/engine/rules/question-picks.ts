import type { Option } from '../../../core/talk/question.ts'
import type { CapAnswer } from '../../model/tasks/spending-cap.ts'
import type { TaskQuestion } from '../../model/tasks/task-question.ts'
import { allowedAnswers, picksIn, takesPicks } from '../../../core/talk/consent.ts'
import { HubError } from './task-rules.ts'

/** Refuses picks that a question does not take; returns the labels of the others, for a note. */
export function pickedLabels(question: TaskQuestion, picks: readonly string[]): string {
  if (!takesPicks(question, picks)) throw wrongAnswer(question, picks)
  return picks.map((pick) => question.options.find(({ id }) => id === pick)?.label ?? pick).join(', ')
}

/** The answer to the question about a cap. */
export function pickedForCap(options: readonly Option[], picks: readonly string[]): CapAnswer {
  pickedLabels({ options: [...options] }, picks)
  return picks[0] as CapAnswer
}

/** Reads the words of a model or a person as the picks of a question. */
export function picksOf(question: TaskQuestion, words: string): string[] {
  const picks = picksIn(question, words.split(/\s+/))
  if (!picks) throw wrongAnswer(question, [words])
  return picks
}

const wrongAnswer = (question: TaskQuestion, found: readonly string[]) =>
  new HubError('wrong', `Found "${found.join(' ')}", allowed: ${allowedAnswers(question)}.`)
