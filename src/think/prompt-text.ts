import { attribute, tag as marked } from '../core/talk/transcript.ts'

/** Another agent's text, marked so that no agent takes it for the person's. */
export function quoted(tag: string, text: string, from?: string): string {
  return marked(tag, from === undefined ? '' : ` from="${attribute(from)}"`, text)
}

/** The beginning and the end of a long text, because an error message is in one of them. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`
}

/** The first line, short enough for a note with other text. */
export function firstLine(text: string, most = 200): string {
  const line = text
    .trim()
    .split(/[\r\n]/)[0]!
    .replace(/:$/, '')
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

/** Instructions for an answer that a program can read. */
export function jsonInstructions(schema: Record<string, unknown>): string {
  return `Answer with one JSON object in a \`\`\`json block and nothing after it. It has this schema:\n${JSON.stringify(schema)}`
}

export const plural = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`
