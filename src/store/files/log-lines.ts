import type { Line } from '../../core/talk/store.ts'

/** Reads bytes at a place in a file; returns fewer than requested only at its end. */
export type Read = (at: number, length: number) => Promise<Buffer>

/** The bytes of one line without its newline; `open` if the file ends without one. */
export type RawLine = { at: number; bytes: Buffer; open: boolean }

const newline = 0x0a
const firstChunk = 64 * 1024
const largestChunk = 1024 * 1024

/**
 * The lines from `from` to `size`, oldest first, in lists of lines that were read together: a generator step for each line would take
 * longer than reading it. Newlines are searched for in bytes, so a chunk may end inside a character.
 */
export async function* linesOn(read: Read, from: number, size: number): AsyncGenerator<RawLine[]> {
  let begun: Buffer[] = []
  let at = from
  let chunk = firstChunk
  for (let place = from; place < size; chunk = Math.min(chunk * 2, largestChunk)) {
    const bytes = await read(place, Math.min(chunk, size - place))
    if (bytes.length === 0) break
    const lines: RawLine[] = []
    let left = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, left)) {
      lines.push({ at, bytes: joinBytes([...begun, bytes.subarray(left, end)]), open: false })
      begun = []
      left = end + 1
      at = place + left
    }
    if (lines.length > 0) yield lines
    begun.push(bytes.subarray(left))
    place += bytes.length
  }
  const rest = joinBytes(begun)
  if (rest.length > 0) yield [{ at, bytes: rest, open: true }]
}

/**
 * The lines from `size` back to the beginning, newest first, in lists like those of `linesOn`. Reads only as much as the caller consumes.
 */
export async function* linesBack(read: Read, size: number): AsyncGenerator<RawLine[]> {
  let begun: Buffer[] = []
  let open = true
  let chunk = firstChunk
  for (let place = size; place > 0; chunk = Math.min(chunk * 2, largestChunk)) {
    const start = Math.max(0, place - chunk)
    const bytes = await read(start, place - start)
    const lines: RawLine[] = []
    let right = bytes.length
    for (let before = lastNewline(bytes, right); before >= 0; before = lastNewline(bytes, right)) {
      const line = joinBytes([bytes.subarray(before + 1, right), ...begun.reverse()])
      if (line.length > 0) lines.push({ at: start + before + 1, bytes: line, open })
      begun = []
      open = false
      right = before
    }
    if (lines.length > 0) yield lines
    begun.push(bytes.subarray(0, right))
    place = start
  }
  const first = joinBytes(begun.reverse())
  if (first.length > 0) yield [{ at: 0, bytes: first, open }]
}

const joinBytes = (parts: Buffer[]) => (parts.length === 1 ? parts[0]! : Buffer.concat(parts))

// A negative position would count from the end and find the same newline forever.
const lastNewline = (bytes: Buffer, right: number) => (right === 0 ? -1 : bytes.lastIndexOf(newline, right - 1))

/** Parses one line: an item, a broken text, or the leftovers of a torn write followed by an item. */
export function parseLine<T>(line: RawLine): Line<T>[] {
  const text = line.bytes.toString('utf8')
  if (text.trim() === '') return []
  const whole = item<T>(text)
  if (whole) return [{ at: line.at, item: whole }]
  const start = findItem(text)
  if (start === undefined) return [{ at: line.at, broken: text }]
  const rest = text.slice(start)
  // The position is counted from the end, because a torn write may stop inside a character, whose text then has different bytes.
  const before = line.bytes.length - Buffer.byteLength(rest)
  const remnant = { ...line, bytes: line.bytes.subarray(0, before) }
  return [...parseLine<T>(remnant), { at: line.at + before, item: item<T>(rest)! }]
}

/** Parses an item. Items are objects, so an unfinished line is complete exactly if it parses. */
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
 * Finds where a whole item begins after a torn one. It must begin with the same first key as the torn one: a line that was cut after a
 * nested object also ends in a whole object, which is not an item.
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
