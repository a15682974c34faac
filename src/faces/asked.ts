import type { Question, Shown } from '../core/talk/question.ts'
import { exactText, readableText } from './chat/cards/words.ts'

/** A question as lines of text, with what it is about in full: a yes is given to something that was seen. */
export async function askedText({ text, shows = [], options }: Question): Promise<string> {
  const choices = options.map(
    ({ label, grants }, index) =>
      `  ${index + 1} ${readableText(label)}${grants ? ` (covers: ${readableText(grants)})` : ''}`,
  )
  return [...(await Promise.all(shows.map(shownText))), readableText(text), ...choices].join('\n')
}

async function shownText(shown: Shown): Promise<string> {
  if (shown.type === 'command') return `$ ${exactText(shown.command)}`
  if (shown.type === 'text') return readableText(shown.text)
  // Read only when it is needed: most turns ask nothing.
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff')
  const { path, before, after } = shown
  const was = before === undefined ? '/dev/null' : path
  const patch = createTwoFilesPatch(was, path, before ?? '', after, undefined, undefined, { headerOptions })
  return exactText(patch.trimEnd())
}
