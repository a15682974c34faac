/** So many rows together are not drawn twice by chance. */
const known = 20

/** The last rows may have been written over: a prompt, a line that was going on. */
const loose = 3

/**
 * The rows that were not there at the last read. A screen scrolls: what was its end is looked for in what it shows now;
 * one that was drawn anew altogether is new as a whole.
 */
export function newRows(before: readonly string[], now: readonly string[]): string[] {
  for (let drop = 0; drop <= loose && drop < before.length; drop++) {
    const length = before.length - drop
    const end = before.slice(Math.max(0, length - known), length)
    // So few rows may come again anywhere: they were the beginning, and must be it still.
    const at = length <= known ? (startsWith(now, end, 0) ? 0 : -1) : lastIndexOf(now, end)
    if (at >= 0) return now.slice(at + end.length)
  }
  return [...now]
}

function startsWith(rows: readonly string[], part: readonly string[], at: number): boolean {
  return part.every((row, index) => rows[at + index] === row)
}

function lastIndexOf(rows: readonly string[], part: readonly string[]): number {
  for (let at = rows.length - part.length; at >= 0; at--) if (startsWith(rows, part, at)) return at
  return -1
}

const frame = /^[\s│┃|║]+|[\s│┃|║]+$/gu
const rule = /^[\s─━═╌┄╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝▀▄▔▁_=-]+$/u
const mark = /\[\/?(?:termaite-response-[0-9a-f]{6}|termtile-response)\]/

/** What was said, without what was drawn around it. */
export function cleaned(rows: readonly string[]): string[] {
  const words = rows.filter((row) => !rule.test(row) || row.trim() === '').map((row) => unframed(row))
  const told = words.filter((row) => !(mark.test(row) && row.replace(mark, '').replace(/^\W+/u, '') === ''))
  return told.filter((row, index) => row !== '' || (index > 0 && told[index - 1] !== ''))
}

/** Only a row that is framed on a side loses its indent there. */
function unframed(row: string): string {
  const trimmed = row.trimEnd()
  return /^\s*[│┃║|]/u.test(trimmed) || /[│┃║|]$/u.test(trimmed) ? trimmed.replaceAll(frame, '') : trimmed
}
