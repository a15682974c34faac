import { sha256 } from '../../base/hash.ts'

export type Marks = { open: string; close: string }

/**
 * Returns the six hex digits in a turn's marks. They are derived from its id, so that a process that takes over the turn after a crash
 * can compute them.
 */
export function nonceOf(turn: string): string {
  return sha256().update(turn).digest('hex').slice(0, 6)
}

/**
 * Returns the marks around an agent's final answer. They are new for each turn and only count on a line of their own, so an echo of the
 * prompt does not count.
 */
export function fenceMarks(nonce: string): Marks {
  return { open: `[termaite-response-${nonce}]`, close: `[/termaite-response-${nonce}]` }
}

/** The marks that termtile's agents use. They carry no nonce, so they count only after the prompt. */
export const plainMarks: Marks = { open: '[termtile-response]', close: '[/termtile-response]' }

/** The closing mark comes first and is followed by a comma: however a screen wraps the echo of this text, it closes no fence. */
export function fenceInstruction(nonce: string): string {
  const { open, close } = fenceMarks(nonce)
  return `When you are done, end with your final answer, closed by a line that holds only ${close}, and opened by a line that holds only ${open}.`
}

/** Returns the text inside the last closed fence that is not empty. */
export function findFence(text: string, { open, close }: Marks): { answer: string } | undefined {
  const lines = text.split('\n')
  const opens = placesOf(lines, open)
  for (const end of closings(lines, close).reverse()) {
    const start = opens.findLast(({ to }) => to <= end.from)
    const answer = start && lines.slice(start.to, end.from)
    // Two marks with nothing between them only mention the fence, and are not an answer.
    if (answer?.some((line) => bare(line) !== '')) return { answer: inner(answer) }
  }
  return undefined
}

/** Says whether the fence is closed; its opening may have scrolled out of sight. */
export function fenceCloses(text: string, marks: Marks): boolean {
  const lines = text.split('\n')
  const opens = placesOf(lines, marks.open)
  const closes = closings(lines, marks.close)
  if (closes.length === 0) return false
  return opens.length === 0 ? closes.at(-1)!.from > 0 : findFence(text, marks) !== undefined
}

/** Says whether a row is a mark, and so no part of the answer. */
export function isMark(row: string, { open, close }: Marks): boolean {
  return [open, close].includes(bare(row))
}

/** Characters that a screen adds to a line: a bullet, the border of a box, an indent. */
const before = /^[\s│┃║▌▎▏]*(?:[⏺●•✦◆∙·◦]\s+)?/
const behind = /[\s│┃║▐▕]+$/

/** Returns a line without the characters that the screen added. */
export function bare(line: string): string {
  return line.replace(before, '').replace(behind, '')
}

/** A narrow screen wraps a mark over at most this many rows. */
const mostRows = 4

function placesOf(lines: readonly string[], mark: string): { from: number; to: number }[] {
  return lines.flatMap((_, from) => {
    let text = ''
    for (let to = from + 1; to <= Math.min(from + mostRows, lines.length); to++) {
      const more = bare(lines[to - 1]!)
      text += more
      if (text === mark) return [{ from, to }]
      if (more === '' || !mark.startsWith(text)) return []
    }
    return []
  })
}

/** Finds the closing marks. If a comma follows a mark on the next row, it is the echo of the instruction. */
function closings(lines: readonly string[], close: string) {
  return placesOf(lines, close).filter(({ to }) => !bare(lines[to] ?? '').startsWith(','))
}

/** Returns the lines between the marks without their common border and indent. */
function inner(lines: readonly string[]): string {
  const boxed = lines.every((line) => line.trim() === '' || /^\s*[│┃║]/.test(line))
  const rows = lines.map((line) => (boxed ? line.replace(/^\s*[│┃║]/, '') : line).replace(boxed ? behind : /\s+$/, ''))
  return dedent(rows).join('\n').trim()
}

/** Removes the indent that all rows share. */
export function dedent(rows: readonly string[]): string[] {
  const indents = rows.filter((row) => row.trim() !== '').map((row) => /^\s*/.exec(row)![0].length)
  const shared = Math.min(...indents, Infinity)
  return rows.map((row) => row.slice(Number.isFinite(shared) ? shared : 0))
}

const drawn = /[─━═│┃║╭╮╰╯┌┐└┘█▀▄]$/

/** Joins rows that the terminal wrapped: a row that is full up to the edge continues in the next one. */
export function unfolded(rows: readonly string[], cols = Infinity): string[] {
  const lines: string[] = []
  let open = false
  for (const [at, row] of rows.entries()) {
    if (open) lines.push(lines.pop()! + row)
    else lines.push(row)
    // A wide character that does not fit into the last column begins the next row.
    const isFull = columnsOf(row) >= cols - (isWide.test(rows[at + 1] ?? '') ? 1 : 0)
    open = isFull && !drawn.test(row)
  }
  return lines
}

/** Characters at the beginning of a text that take two columns of a terminal, and those that take none. */
const isWide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u
const takesNone = /[\p{Mn}\p{Me}\p{Cf}]/u

/** How many columns of a terminal a row takes. */
function columnsOf(row: string): number {
  let columns = 0
  for (const char of row) columns += isWide.test(char) ? 2 : takesNone.test(char) ? 0 : 1
  return columns
}
