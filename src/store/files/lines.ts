/** Bytes at a place in a file; fewer than asked for only at its end. */
export type Read = (at: number, length: number) => Promise<Buffer>

/** The bytes of one line without its newline; `open` when the file ends before one. */
export type RawLine = { at: number; bytes: Buffer; open: boolean }

const newline = 0x0a
const firstChunk = 64 * 1024
const largestChunk = 1024 * 1024

/** Lines from `from` to `size`, oldest first. Newlines are looked for in bytes, so a chunk may end inside a character. */
export async function* linesOn(read: Read, from: number, size: number): AsyncGenerator<RawLine> {
  let begun: Buffer[] = []
  let at = from
  let chunk = firstChunk
  for (let place = from; place < size; chunk = Math.min(chunk * 2, largestChunk)) {
    const bytes = await read(place, Math.min(chunk, size - place))
    if (bytes.length === 0) break
    let left = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, left)) {
      yield { at, bytes: joined([...begun, bytes.subarray(left, end)]), open: false }
      begun = []
      left = end + 1
      at = place + left
    }
    begun.push(bytes.subarray(left))
    place += bytes.length
  }
  const rest = joined(begun)
  if (rest.length > 0) yield { at, bytes: rest, open: true }
}

/** Lines from `size` back to the beginning, newest first; reads no more than was asked for. */
export async function* linesBack(read: Read, size: number): AsyncGenerator<RawLine> {
  let begun: Buffer[] = []
  let open = true
  let chunk = firstChunk
  for (let place = size; place > 0; chunk = Math.min(chunk * 2, largestChunk)) {
    const start = Math.max(0, place - chunk)
    const bytes = await read(start, place - start)
    let right = bytes.length
    for (let before = lastNewline(bytes, right); before >= 0; before = lastNewline(bytes, right)) {
      const line = joined([bytes.subarray(before + 1, right), ...begun.reverse()])
      if (line.length > 0) yield { at: start + before + 1, bytes: line, open }
      begun = []
      open = false
      right = before
    }
    begun.push(bytes.subarray(0, right))
    place = start
  }
  const first = joined(begun.reverse())
  if (first.length > 0) yield { at: 0, bytes: first, open }
}

const joined = (parts: Buffer[]) => (parts.length === 1 ? parts[0]! : Buffer.concat(parts))

// A negative place would count from the end, and so find the same newline for ever.
const lastNewline = (bytes: Buffer, right: number) => (right === 0 ? -1 : bytes.lastIndexOf(newline, right - 1))
