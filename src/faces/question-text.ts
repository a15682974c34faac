import type { Question, Shown } from '../core/talk/question.ts'

/** A question as lines of text, with what it is about in full: a yes is given to something that was seen. */
export async function questionText({ text, shows = [], options }: Question): Promise<string> {
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

const csi = /\x1b\[[0-?]*[ -/]*[@-~]/g
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
/** These turn the order of what is read round: a command must not look like another one. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * An agent's words on a card. Only sequences that can hold no words of their own go whole: what a longer one
 * would hide from the person who says yes stays to be seen.
 */
export function readableText(text: string): string {
  return turned(lines(text).replace(csi, '').replace(control, ''))
}

/** What a yes is given to, every character of it: control characters show as their pictures. */
export function exactText(text: string): string {
  return turned(lines(text).replace(control, picture))
}

function lines(text: string): string {
  return text.replace(/\r\n|[\u2028\u2029]/g, '\n').replaceAll('\t', '    ')
}

function turned(text: string): string {
  return text.replace(turning, (char) => `<U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`)
}

function picture(char: string): string {
  const code = char.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '␡' : '�'
}
