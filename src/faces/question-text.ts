import type { Mark, Question, Shown } from '../core/talk/question.ts'
import { optionKeys } from '../core/talk/consent.ts'

/** A question as lines of text, with everything it is about in full: a person says yes only to what they have seen. */
export async function questionText({ text, shows = [], options, marked = [] }: Question): Promise<string> {
  const keys = optionKeys(options)
  const choices = options.map(({ id, label, grants }, index) => {
    const covers = grants ? ` (covers: ${readableText(grants)})` : ''
    return `  ${keys[index]} ${readableText(label)}${covers}${marked.includes(id) ? ' (suggested)' : ''}`
  })
  return [...(await Promise.all(shows.map(shownText))), readableText(text), ...choices].join('\n')
}

async function shownText(shown: Shown): Promise<string> {
  if (shown.type === 'command') return commandText(shown)
  if (shown.type === 'text') return readableText(shown.text)
  // Loaded only when needed: most turns ask nothing.
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff')
  const { path, before, after } = shown
  const was = before === undefined ? '/dev/null' : path
  const patch = createTwoFilesPatch(was, path, before ?? '', after, undefined, undefined, { headerOptions })
  const danger = shown.danger === undefined ? '' : `${dangerSign}${exactText(path)}: ${shown.danger}\n`
  return danger + exactText(patch.trimEnd())
}

/** Stands before a line that made a question necessary; it works without colours. */
export const dangerSign = '! '

/** A command as plain lines. A line with a dangerous part begins with the sign for danger, and below they are explained. */
export function commandText(shown: Extract<Shown, { type: 'command' }>): string {
  const { text, marks } = withExactMarks(shown.command, shown.marks ?? [])
  let at = 0
  const lines = text.split('\n').map((line, index) => {
    const [from, to] = [at, at + line.length]
    at = to + 1
    const danger = marks.some((mark) => mark.from < to && mark.to > from)
    return `${danger ? dangerSign : index === 0 ? '$ ' : '  '}${line}`
  })
  return [...lines, ...markWords(shown).map((words) => dangerSign + words)].join('\n')
}

/** A command with every character visible, and the places that its marks then have. */
export function withExactMarks(command: string, marks: readonly Mark[]): { text: string; marks: Mark[] } {
  let text = ''
  let at = 0
  const moved: Mark[] = []
  for (const { from, to, why } of marks.toSorted((a, b) => a.from - b.from)) {
    if (from < at || to > command.length) continue
    text += exactText(command.slice(at, from))
    const begins = text.length
    text += exactText(command.slice(from, to))
    moved.push({ from: begins, to: text.length, why })
    at = to
  }
  return { text: text + exactText(command.slice(at)), marks: moved }
}

/** Marks that are explained one by one. */
const mostExplained = 4

/** The dangerous parts of a command in words, each with its line. A command of few lines explains itself. */
export function markWords({ command, marks = [] }: Extract<Shown, { type: 'command' }>): string[] {
  const lineOf = (at: number) => command.slice(0, at).split('\n').length
  if (marks.length === 0 || !command.trim().includes('\n')) return []
  const words = marks.slice(0, mostExplained).map(({ from, to, why }) => {
    const part = exactText(command.slice(from, to)).replace(/\s+/g, ' ').trim()
    return `line ${lineOf(from)}: ${part.length > 60 ? `${part.slice(0, 60)}…` : part} (${why})`
  })
  const more = marks.length - words.length
  return more > 0 ? [...words, `and ${more} more ${more === 1 ? 'place' : 'places'}`] : words
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
