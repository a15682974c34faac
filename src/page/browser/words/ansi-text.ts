/** A part of a command's output that has one style. */
type OutputPart = { text: string; colour?: 'red' | 'green' | 'yellow' | 'blue' | 'quiet'; bold?: true }

/**
 * Terminal escape sequences: those with a bracket, titles and links up to their end, and single ones. A control character that begins
 * none of them is removed too, because the text around a removed sequence must not form a new one.
 */
const sequences =
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g

const colours: Readonly<Record<number, NonNullable<OutputPart['colour']>>> = {
  30: 'quiet',
  31: 'red',
  32: 'green',
  33: 'yellow',
  34: 'blue',
  36: 'blue',
  90: 'quiet',
  91: 'red',
  92: 'green',
  93: 'yellow',
  94: 'blue',
  96: 'blue',
}

/** The lines of a command's output. A line that was overwritten, as by a progress bar, is shown in its final state. */
export function outputLines(output: string): string[] {
  const lines = output.replaceAll('\r\n', '\n').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).replace(/\r+$/, ''))
}

/** Parses the colours of one line of output and drops every other sequence. Each line begins without a colour. */
export function outputParts(line: string): OutputPart[] {
  const parts: OutputPart[] = []
  let look: Omit<OutputPart, 'text'> = {}
  let from = 0
  const add = (end: number) => {
    if (end > from) parts.push({ text: line.slice(from, end), ...look })
  }
  for (const found of line.matchAll(sequences)) {
    add(found.index)
    from = found.index + found[0].length
    if (found[2] === 'm') look = lookAfter(look, (found[1] ?? '').split(';').map(Number))
  }
  add(line.length)
  return parts
}

function lookAfter(was: Omit<OutputPart, 'text'>, codes: readonly number[]): Omit<OutputPart, 'text'> {
  let look = { ...was }
  for (const [at, code] of codes.entries()) {
    // Further numbers choose one of many colours, which the page does not support.
    if (code === 38 || code === 48) break
    if (code === 0) look = {}
    else if (code === 1) look.bold = true
    else if (code === 22) delete look.bold
    else if (code === 39) delete look.colour
    else if (colours[code] !== undefined && codes[at - 1] !== 48) look.colour = colours[code]
  }
  return look
}
