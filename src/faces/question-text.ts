import type { Question, Shown } from '../core/talk/question.ts'

/** A question as lines of text, with everything it is about in full: a person says yes only to what they have seen. */
export async function questionText({ text, shows = [], options }: Question): Promise<string> {
  const choices = options.map(({ label, grants }, index) => {
    const covers = grants ? ` (covers: ${readableText(grants)})` : ''
    return `  ${index + 1} ${readableText(label)}${covers}`
  })
  return [...(await Promise.all(shows.map(shownText))), readableText(text), ...choices].join('\n')
}

async function shownText(shown: Shown): Promise<string> {
  if (shown.type === 'command') return `$ ${exactText(shown.command)}`
  if (shown.type === 'text') return readableText(shown.text)
  // Loaded only when needed: most turns ask nothing.
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff')
  const { path, before, after } = shown
  const was = before === undefined ? '/dev/null' : path
  const patch = createTwoFilesPatch(was, path, before ?? '', after, undefined, undefined, { headerOptions })
  return exactText(patch.trimEnd())
}

const colourSequence = /\x1b\[[0-?]*[ -/]*[@-~]/g
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
/** Characters that reverse the reading direction: a command must not look like another one. */
const direction = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * An agent's words without control characters. Only sequences that hold no words of their own are removed whole;
 * the words inside a longer sequence stay visible to the person who says yes.
 */
export function readableText(text: string): string {
  return withDirectionsNamed(withPlainLines(text).replace(colourSequence, '').replace(control, ''))
}

/** Every character of what a person says yes to: control characters are shown as their pictures. */
export function exactText(text: string): string {
  return withDirectionsNamed(withPlainLines(text).replace(control, picture))
}

function withPlainLines(text: string): string {
  return text.replace(/\r\n|[\u2028\u2029]/g, '\n').replaceAll('\t', '    ')
}

function withDirectionsNamed(text: string): string {
  return text.replace(direction, (char) => `<U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`)
}

function picture(char: string): string {
  const code = char.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '␡' : '�'
}
