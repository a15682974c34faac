import type { Socket } from 'node:net'
import type { Carrier } from './connection.ts'
import type { FrameData } from './frames.ts'
import { longestFrame } from './frames.ts'

/** A frame on a Unix socket: whether it is text or bytes, its length in 32 bits, and its content. */
const headBytes = 5
const textMark = 0
const bytesMark = 1

/** The first byte from an older termaite, whose frames were lines of JSON. */
const oldMark = '{'.charCodeAt(0)

/** Carries frames over a socket between two processes of one machine. */
export function unixCarrier(socket: Socket): Carrier {
  return {
    begin({ take, sent, over, fail }) {
      const frames = new FrameReader(take, fail)
      let why = ''
      socket.on('data', (chunk: Buffer) => frames.push(chunk))
      // A socket only emits `drain` after exceeding its high-water mark; connections wait only above a limit that is at least as high.
      socket.on('drain', sent)
      socket.on('error', (error) => (why = error.message))
      socket.once('close', () => over(why || 'the connection was closed'))
    },
    get buffered() {
      return socket.writableLength
    },
    send(data) {
      if (socket.writable) socket.write(frameBytes(data))
    },
    close() {
      socket.end()
    },
    destroy() {
      socket.destroy()
    },
  }
}

function frameBytes(data: FrameData): Buffer {
  const isText = typeof data === 'string'
  const length = isText ? Buffer.byteLength(data) : data.length
  const frame = Buffer.allocUnsafe(headBytes + length)
  frame[0] = isText ? textMark : bytesMark
  frame.writeUInt32BE(length, 1)
  if (isText) frame.write(data, headBytes)
  else frame.set(data, headBytes)
  return frame
}

/** Splits a stream of bytes into frames. */
class FrameReader {
  #take: (data: FrameData) => void
  #fail: (why: string) => void
  #chunks: Buffer[] = []
  #size = 0
  /** How many bytes must have arrived before anything can be read. */
  #needed = headBytes
  #isBroken = false

  constructor(take: (data: FrameData) => void, fail: (why: string) => void) {
    this.#take = take
    this.#fail = fail
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed || this.#isBroken) return
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const from = this.#takeAll(bytes)
    this.#chunks = from < bytes.length ? [bytes.subarray(from)] : []
    this.#size = bytes.length - from
  }

  /** Passes on all complete frames; returns the offset of the first incomplete one. */
  #takeAll(bytes: Buffer): number {
    let from = 0
    for (;;) {
      this.#needed = headBytes
      if (bytes.length - from < headBytes) return from
      const [mark, length] = [bytes[from], bytes.readUInt32BE(from + 1)]
      if ((mark !== textMark && mark !== bytesMark) || length > longestFrame) {
        this.#isBroken = true
        this.#fail(mark === oldMark ? 'an older termaite runs there' : 'a frame that cannot be read came')
        return bytes.length
      }
      const end = from + headBytes + length
      this.#needed = headBytes + length
      if (bytes.length < end) return from
      const frame = bytes.subarray(from + headBytes, end)
      this.#take(mark === textMark ? frame.toString('utf8') : frame)
      from = end
    }
  }
}
