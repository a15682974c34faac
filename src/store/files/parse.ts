import type { Line } from '../../core/talk/store.ts'
import type { RawLine } from './lines.ts'

/** What one line holds, in the order of the file: an item, a broken text, or the remnant of a torn write and the item behind it. */
export function parseLine<T>(line: RawLine): Line<T>[] {
  const text = line.bytes.toString('utf8')
  if (text.trim() === '') return []
  const whole = item<T>(text)
  if (whole) return [{ at: line.at, item: whole }]
  const start = findItem(text)
  if (start === undefined) return [{ at: line.at, broken: text }]
  const rest = text.slice(start)
  // Counted from the end: a remnant may stop inside a character, and then has other bytes than its text.
  const before = line.bytes.length - Buffer.byteLength(rest)
  const remnant = { ...line, bytes: line.bytes.subarray(0, before) }
  return [...parseLine<T>(remnant), { at: line.at + before, item: item<T>(rest)! }]
}

/** Items are objects: so a line that is not ended yet is whole exactly when it parses. */
function item<T>(text: string): T | undefined {
  if (!text.trimEnd().endsWith('}')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

/**
 * Where a whole item begins behind a torn one. It must begin as the torn one does, with the same first key:
 * a line that was cut behind an object inside it ends in a whole object too, and that is no item.
 */
function findItem(text: string): number | undefined {
  if (!text.trimEnd().endsWith('}')) return undefined
  for (let start = text.indexOf('{', 1); start > 0; start = text.indexOf('{', start + 1)) {
    if (beginsAlike(text, start) && item(text.slice(start))) return start
  }
  return undefined
}

function beginsAlike(text: string, start: number): boolean {
  if (text[0] !== '{') return true
  const key = text.indexOf(':') + 1
  return text.startsWith(text.slice(0, Math.min(start, key || start)), start)
}
