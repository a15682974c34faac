import type { Question } from '../../core/talk/question.ts'
import type { Tool } from '../../core/work/tool.ts'
import { defineTool } from './shared/tool-definition.ts'
import { boolean, list, object, optional, parser, string } from '../../core/data/shape.ts'
import { defined } from '../../base/defined.ts'

const question = object({
  question: string({ min: 1 }),
  options: list(string({ min: 1 }), 3, 3),
  multi_select: optional(boolean()),
})

const input = parser({ questions: list(question, 1) })

/** Asks the person: the loop finds the questions in `data.asks` and ends the turn, and the next prompt is the answer. */
export function askQuestion(): Tool {
  return defineTool({
    name: 'ask_question',
    risk: 'read',
    onDemand: 'with a shell',
    input,
    alone: true,
    leadOnly: true,
    effect: () => ({ does: 'nothing' }),
    async run({ questions }) {
      const asks = questions.map(({ question, options, multi_select }): Question =>
        defined({
          about: 'choice',
          text: question,
          from: [],
          multiple: multi_select || undefined,
          free: true,
          options: options.map((label, i) => ({ id: `${i + 1}`, label })),
          unanswered: 'answer in the input instead',
        }),
      )
      return { text: 'The person was asked; the next message is the answer.', data: { asks } }
    },
  })
}
