import type { Mark, Question, Shown } from '../core/talk/question.ts'
import { optionLines } from '../core/talk/consent.ts'

/** A question as lines of text, in full: a person says yes only to things that they have seen. */
export async function questionText(question: Question): Promise<string> {
  const { shown, asked } = await questionParts(question)
  return [...shown, ...asked].join('\n')
}

/** The lines that a question shows, and the lines that ask: its dangerous parts once more, its text and its options. */
export async function questionParts(question: Question): Promise<{ shown: string[]; asked: string[] }> {
  const { text, shows = [] } = question
  const choices = optionLines(question).map(readableText)
  const dangers = dangerWords(question).map((words) => dangerSign + words)
  return {
    shown: (await Promise.all(shows.map(shownText))).flatMap((one) => one.split('\n')),
    asked: [...dangers, ...readableText(text).split('\n'), ...choices],
  }
}

async function shownText(shown: Shown): Promise<string> {
  if (shown.type === 'command') return commandText(shown)
  if (shown.type === 'text') return readableText(shown.text)
  // The library for diffs is loaded on demand: most turns ask nothing.
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff')
  const { path, before, after } = shown
  const was = before === undefined ? '/dev/null' : path
  const patch = createTwoFilesPatch(was, path, before ?? '', after, undefined, undefined, { headerOptions })
  return exactText(patch.trimEnd())
}

/** Marks a line that made the question necessary; the mark works without colours. */
export const dangerSign = '! '

/** A command as plain lines, and the folder in which it runs. A line with a dangerous part begins with the sign for danger. */
export function commandText(shown: Extract<Shown, { type: 'command' }>): string {
  const { text, marks } = withExactMarks(shown.command, shown.marks ?? [])
  let at = 0
  const lines = text.split('\n').map((line, index) => {
    const [from, to] = [at, at + line.length]
    at = to + 1
    const danger = marks.some((mark) => mark.from < to && mark.to > from)
    return `${danger ? dangerSign : index === 0 ? '$ ' : '  '}${line}`
  })
  return [...lines, ...(shown.cwd === undefined ? [] : [`  in ${exactText(shown.cwd)}`])].join('\n')
}

/** Everything dangerous in a question, as text, for a screen that cannot highlight it. */
export function dangerWords({ text, shows = [] }: Pick<Question, 'text' | 'shows'>): string[] {
  const words = shows.flatMap((shown) => {
    if (shown.type === 'command') return markWords(shown, { said: text, painted: false })
    return shown.type === 'diff' && shown.danger !== undefined ? [exactText(`${shown.path}: ${shown.danger}`)] : []
  })
  return [...new Set(words)]
}

/** A command with every character visible, and the new positions of its marks. */
export function withExactMarks(command: string, marks: readonly Mark[]): { text: string; marks: Mark[] } {
  let text = ''
  let at = 0
  const moved: Mark[] = []
  for (const { from, to, why } of marks.toSorted((a, b) => a.from - b.from)) {
    if (from < at || to > command.length) continue
    text += exactText(command.slice(at, from))
    const begins = text.length
    text += exactText(command.slice(from, to))
    moved.push({ from: begins, to: text.length, why: exactText(why) })
    at = to
  }
  return { text: text + exactText(command.slice(at)), marks: moved }
}

/** How many marks are explained one by one. */
const mostExplained = 4

/**
 * The dangerous parts of a command as text: each with its line number if the command has several lines, and with its reason. A command of
 * one line needs no explanation if the part is `painted` and the text of the question (`said`) gives the reason.
 */
export function markWords(
  { command, marks = [] }: Extract<Shown, { type: 'command' }>,
  { said, painted }: { said: string; painted: boolean },
): string[] {
  const whole = command.trim()
  const several = whole.includes('\n')
  const lineOf = (at: number) => command.slice(0, at).split('\n').length
  const isWhole = ({ from, to }: Mark) => command.slice(from, to).trim() === whole
  const told = marks.filter((mark) => several || !said.includes(mark.why) || (!painted && !isWhole(mark)))
  const words = told.slice(0, mostExplained).map((mark) => {
    const why = exactText(mark.why)
    if (!several && isWhole(mark)) return why
    const part = exactText(command.slice(mark.from, mark.to)).replace(/\s+/g, ' ').trim()
    const short = part.length > 60 ? `${part.slice(0, 60)}…` : part
    return `${several ? `line ${lineOf(mark.from)}: ` : ''}${short} (${why})`
  })
  const more = told.length - words.length
  return more > 0 ? [...words, `and ${more} more ${more === 1 ? 'place' : 'places'}`] : words
}

const colourSequence = /\x1b\[[0-?]*[ -/]*[@-~]/g
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
/** Characters that reverse the reading direction: a command must not look like another one. */
const direction = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * An agent's text without control characters. A control sequence is removed whole only if it contains no readable text; text inside a
 * longer sequence stays visible to the person who says yes.
 */
export function readableText(text: string): string {
  return withDirectionsNamed(withPlainLines(text).replace(colourSequence, '').replace(control, ''))
}

/** The text with every character visible, so that a person knows exactly what they agree to: control characters are shown as symbols. */
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
