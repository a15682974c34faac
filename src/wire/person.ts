import type { Ask } from '../core/talk/question.ts'
import type { Io } from './io.ts'
import { stripAnsi } from '../base/ansi.ts'
import { ask } from './confirm.ts'

/** Whoever sits at the terminal answers a question by its number; in a pipe nobody does, which means no. */
export function personAt(io: Io): Ask {
  return async ({ text, options }, withdrawn) => {
    if (io.piped || !io.in.isTTY || withdrawn.aborted) return undefined
    const choices = options.map(({ label }, index) => `  ${index + 1} ${label}`).join('\n')
    const answer = await ask(io, stripAnsi(`${text}\n${choices}\n> `)).catch(() => '')
    const picked = options[Number(answer.trim()) - 1]
    return picked && [picked.id]
  }
}
