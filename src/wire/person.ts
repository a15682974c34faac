import type { Ask, Question } from '../core/talk/question.ts'
import type { Io } from './io.ts'
import { nobody } from '../core/talk/question.ts'
import { picksTyped, unclearWords } from '../core/talk/typed.ts'
import { askedText } from '../faces/asked.ts'
import { ask } from './confirm.ts'

/** Whoever sits at the terminal answers a question by its number; in a pipe it is `absent` who does. */
export function personAt(io: Io, absent: Ask = nobody): Ask {
  return async (question, withdrawn) =>
    io.piped || !io.in.isTTY || withdrawn.aborted
      ? absent(question, withdrawn)
      : answered(io, question, withdrawn).catch(() => undefined)
}

/** What somebody at the terminal answers; whoever leaves it with Ctrl+C or Ctrl+D means to leave. */
export async function answered(io: Io, question: Question, withdrawn: AbortSignal): Promise<string[] | undefined> {
  for (let words = await askedText(question); ; words = unclearWords(question)) {
    const picks = picksTyped(question, await ask(io, `${words}\n> `, withdrawn))
    if (picks !== 'unclear') return picks
  }
}
