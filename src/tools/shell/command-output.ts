import type { BlobWriter } from '../../core/talk/store.ts'
import type { ToolCall } from '../../core/work/tool.ts'
import type { ToolParts } from '../tool-parts.ts'
import { AnsiStripper } from '../../base/ansi.ts'
import { joinCut } from '../../core/talk/body.ts'

/** So much of an output is told: where it begins, and, as errors come last, more of where it ends. */
const headChars = 10 * 1024
const tailChars = 22 * 1024

/** More than this is no output that anybody reads: whoever prints it is ended before it fills the disk. */
const mostBytes = 2 * 1024 * 1024 * 1024

export const tooMuch = '[ended: it printed more than 2 GB]'

/** Text is masked in pieces of at most this length, cut at line ends, so that no secret lies across two. */
const blockChars = 64 * 1024

/**
 * What a command prints, as it comes: its two ends in memory, all of it on the disk once it is too long to be told.
 * Secrets and control sequences are taken out of both.
 */
export class Printed {
  #parts: Pick<ToolParts, 'blobs' | 'mask'>
  #stripper = new AnsiStripper()
  #waiting = ''
  #head = ''
  #tail = ''
  #missing = 0
  #writer: BlobWriter | undefined

  constructor(parts: Pick<ToolParts, 'blobs' | 'mask'>) {
    this.#parts = parts
  }

  /** Gives what can be shown of it now. */
  async add(chunk: Uint8Array): Promise<string> {
    this.#waiting += this.#stripper.push(chunk)
    const whole = this.#waiting.lastIndexOf('\n') + 1 || (this.#waiting.length > blockChars ? this.#waiting.length : 0)
    const text = this.#waiting.slice(0, whole)
    this.#waiting = this.#waiting.slice(whole)
    return this.#keep(text)
  }

  /** Takes what is printed, and shows it as it comes; `over` is told when it is too much. */
  shown({ progress }: Pick<ToolCall, 'progress'>, over: () => void): (chunk: Uint8Array) => Promise<void> {
    let bytes = 0
    return async (chunk) => {
      bytes += chunk.length
      if (bytes > mostBytes) return over()
      const text = await this.add(chunk)
      if (text !== '') progress(text)
    }
  }

  /** All that is told of it, with the place of the whole. */
  async done(): Promise<string> {
    await this.#keep(this.#waiting + this.#stripper.end())
    this.#waiting = ''
    if (!this.#writer) return this.#head + this.#tail
    const place = this.#parts.blobs.place(await this.#writer.done())
    return joinCut(this.#head, this.#tail, this.#missing, place)
  }

  async drop(): Promise<void> {
    await this.#writer?.drop()
  }

  async #keep(raw: string): Promise<string> {
    if (raw === '') return ''
    const text = this.#parts.mask?.(raw) ?? raw
    const room = headChars - this.#head.length
    this.#head += text.slice(0, room)
    const tail = this.#tail + text.slice(room)
    if (tail.length > tailChars && !this.#writer) {
      this.#writer = this.#parts.blobs.writer('text/plain')
      // The head ends where the tail begins as long as nothing was left out.
      await this.#writer.write(Buffer.from(this.#head + tail))
    } else await this.#writer?.write(Buffer.from(text))
    this.#missing += Math.max(0, tail.length - tailChars)
    this.#tail = tail.slice(-tailChars)
    return text
  }
}
