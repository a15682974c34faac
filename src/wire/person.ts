import type { Ask } from '../core/talk/question.ts'
import type { Io } from './io.ts'
import { nobody } from '../core/talk/question.ts'
import { picksTyped, unclearWords } from '../core/talk/typed.ts'
import { askedText } from '../faces/asked.ts'
import { ask } from './confirm.ts'

/** Whoever sits at the terminal answers a question by its number; in a pipe it is `absent` who does. */
export function personAt(io: Io, absent: Ask = nobody): Ask {
  return async (question, withdrawn) => {
    if (io.piped || !io.in.isTTY || withdrawn.aborted) return absent(question, withdrawn)
    for (let words = await askedText(question); ; words = unclearWords(question)) {
      const line = await ask(io, `${words}\n> `, withdrawn).catch(() => '')
      const picks = picksTyped(question, line)
      if (picks !== 'unclear') return picks
    }
  }
}
