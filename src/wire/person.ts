import type { Ask, Question, Shown } from '../core/talk/question.ts'
import type { Io } from './io.ts'
import { stripAnsi } from '../base/ansi.ts'
import { nobody } from '../core/talk/question.ts'
import { picksTyped, unclearWords } from '../core/talk/typed.ts'
import { ask } from './confirm.ts'

/** Whoever sits at the terminal answers a question by its number; in a pipe it is `absent` who does. */
export function personAt(io: Io, absent: Ask = nobody): Ask {
  return async (question, withdrawn) => {
    if (io.piped || !io.in.isTTY || withdrawn.aborted) return absent(question, withdrawn)
    for (let words = await cardText(question); ; words = unclearWords(question)) {
      const line = await ask(io, stripAnsi(`${words}\n> `), withdrawn).catch(() => '')
      const picks = picksTyped(question, line)
      if (picks !== 'unclear') return picks
    }
  }
}

/** The question with what it is about: a yes is given to something that was seen. */
async function cardText({ text, shows = [], options }: Question): Promise<string> {
  const choices = options.map(
    ({ label, grants }, index) => `  ${index + 1} ${label}${grants ? ` (covers: ${grants})` : ''}`,
  )
  return [...(await Promise.all(shows.map(shownText))), text, ...choices].join('\n')
}

async function shownText(shown: Shown): Promise<string> {
  if (shown.type === 'command') return `$ ${shown.command}`
  if (shown.type === 'text') return shown.text
  // Read only when it is needed: most turns ask nothing.
  const { createTwoFilesPatch } = await import('diff')
  const { path, before, after } = shown
  return createTwoFilesPatch(before === undefined ? '/dev/null' : path, path, before ?? '', after).trimEnd()
}
