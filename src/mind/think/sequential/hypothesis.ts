import { list, oneOf, string } from '../../../core/work/shape.ts'
import { answerShape, part } from '../answer.ts'

/** What may be the cause, and the command whose output tells. */
export type Hypothesis = { cause: string; why: string; diagnostic: string; expects: string }

export const hypothesisField = part({
  cause: string({ min: 1 }),
  why: string(),
  diagnostic: string({ min: 1 }),
  expects: string(),
})

/** `wants`: whether the person asked why, or for it to work again. */
export const diagnosis = answerShape({ wants: oneOf('answer', 'fix'), hypotheses: list(hypothesisField, 1) })
