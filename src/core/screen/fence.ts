import { sha256 } from '../../base/hash.ts'

export type Marks = { open: string; close: string }

/** Six hex digits that a turn's marks carry. Made from its id alone, so that whoever takes the turn up after a crash knows them. */
export function nonceOf(turn: string): string {
  return sha256().update(turn).digest('hex').slice(0, 6)
}

/** The marks around an agent's final answer: new for each turn, and alone on their lines, so an echo does not count. */
export function fenceMarks(nonce: string): Marks {
  return { open: `[termaite-response-${nonce}]`, close: `[/termaite-response-${nonce}]` }
}

/** The marks that agents of termtile are told; they carry no nonce, so they count only after the prompt. */
export const plainMarks: Marks = { open: '[termtile-response]', close: '[/termtile-response]' }

/** The closing mark comes first and has a comma behind it: however a screen folds its echo, no fence closes in it. */
export function fenceInstruction(nonce: string): string {
  const { open, close } = fenceMarks(nonce)
  return `When you are done, end with your final answer, closed by a line that holds only ${close}, and opened by a line that holds only ${open}.`
}

/** The text inside the last closed fence that holds anything. */
export function findFence(text: string, { open, close }: Marks): { answer: string } | undefined {
  const lines = text.split('\n')
  const opens = placesOf(lines, open)
  for (const end of closings(lines, close).reverse()) {
    const start = opens.findLast(({ to }) => to <= end.from)
    const answer = start && lines.slice(start.to, end.from)
    // Two marks with nothing between them are somebody's words about the fence.
    if (answer?.some((line) => bare(line) !== '')) return { answer: inner(answer) }
  }
  return undefined
}

/** Whether the fence is closed, its beginning perhaps out of sight. */
export function fenceCloses(text: string, marks: Marks): boolean {
  const lines = text.split('\n')
  const opens = placesOf(lines, marks.open)
  const closes = closings(lines, marks.close)
  if (closes.length === 0) return false
  return opens.length === 0 ? closes.at(-1)!.from > 0 : findFence(text, marks) !== undefined
}

/** Whether a row is part of a mark: such rows are no part of what was said. */
export function isMark(row: string, { open, close }: Marks): boolean {
  return [open, close].includes(bare(row))
}

/** A bullet before what was said, the border of a box, an indent: what a screen adds to a line. */
const before = /^[\s│┃║▌▎▏]*(?:[⏺●•✦◆∙·◦]\s+)?/
const behind = /[\s│┃║▐▕]+$/

/** A line without what a screen adds to it. */
export function bare(line: string): string {
  return line.replace(before, '').replace(behind, '')
}

/** A mark that a narrow screen folds is found whole. */
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

/** A comma on the next row is the one of the instruction. */
function closings(lines: readonly string[], close: string) {
  return placesOf(lines, close).filter(({ to }) => !bare(lines[to] ?? '').startsWith(','))
}

/** The lines between the marks, without the border and the indent that they share. */
function inner(lines: readonly string[]): string {
  const boxed = lines.every((line) => line.trim() === '' || /^\s*[│┃║]/.test(line))
  const rows = lines.map((line) => (boxed ? line.replace(/^\s*[│┃║]/, '') : line).replace(boxed ? behind : /\s+$/, ''))
  return dedent(rows).join('\n').trim()
}

/** Without the indent that all of them share. */
export function dedent(rows: readonly string[]): string[] {
  const indents = rows.filter((row) => row.trim() !== '').map((row) => /^\s*/.exec(row)![0].length)
  const shared = Math.min(...indents, Infinity)
  return rows.map((row) => row.slice(Number.isFinite(shared) ? shared : 0))
}
