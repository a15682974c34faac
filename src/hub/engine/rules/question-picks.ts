import type { Option } from '../../../core/talk/question.ts'
import type { CapAnswer } from '../../model/tasks/spending-cap.ts'
import type { TaskQuestion } from '../../model/tasks/task-question.ts'
import { allowedAnswers, picksIn, takesPicks } from '../../../core/talk/consent.ts'
import { HubError } from './task-rules.ts'

/** Throws if a question does not allow these picks; returns their labels, for a note. */
export function pickedLabels(question: TaskQuestion, picks: readonly string[]): string {
  if (!takesPicks(question, picks)) throw wrongAnswer(question, picks)
  return picks.map((pick) => question.options.find(({ id }) => id === pick)?.label ?? pick).join(', ')
}

/** The pick that answers the question about a cap. */
export function pickedForCap(options: readonly Option[], picks: readonly string[]): CapAnswer {
  pickedLabels({ options: [...options] }, picks)
  return picks[0] as CapAnswer
}

/** Finds the picks of a question that the words of a model or a person mean. */
export function picksOf(question: TaskQuestion, words: string): string[] {
  const picks = picksIn(question, words.split(/\s+/))
  if (!picks) throw wrongAnswer(question, [words])
  return picks
}

const wrongAnswer = (question: TaskQuestion, found: readonly string[]) =>
  new HubError('wrong', `Found "${found.join(' ')}", allowed: ${allowedAnswers(question)}.`)
