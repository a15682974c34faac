import type { Ask } from '../core/talk/question.ts'
import type { Io } from './io.ts'
import { stripAnsi } from '../base/ansi.ts'
import { nobody } from '../core/talk/question.ts'
import { ask } from './confirm.ts'

/** Whoever sits at the terminal answers a question by its number; in a pipe it is `absent` who does. */
export function personAt(io: Io, absent: Ask = nobody): Ask {
  return async (question, withdrawn) => {
    if (io.piped || !io.in.isTTY || withdrawn.aborted) return absent(question, withdrawn)
    const { text, options } = question
    const choices = options.map(({ label }, index) => `  ${index + 1} ${label}`).join('\n')
    const answer = await ask(io, stripAnsi(`${text}\n${choices}\n> `), withdrawn).catch(() => '')
    const picked = options[Number(answer.trim()) - 1]
    return picked && [picked.id]
  }
}
