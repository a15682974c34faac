import type { BlobWriter } from '../../../core/talk/store.ts'
import type { ToolCall } from '../../../core/work/tool.ts'
import type { ToolParts } from '../shared/tool-parts.ts'
import { AnsiStripper } from '../../../base/text/ansi.ts'
import { joinCut } from '../../../core/talk/body.ts'

/** The model gets this much of the beginning of an output, and more of its end, because errors come last. */
const headChars = 10 * 1024
const tailChars = 22 * 1024

/** A command that prints more than this is stopped before it fills the disk. */
const mostBytes = 2 * 1024 * 1024 * 1024

export const tooMuch = '[stopped: it printed more than 2 GB]'

/** Output is masked in blocks of at most this length, cut at line ends, so that no secret is split over two blocks. */
const blockChars = 64 * 1024

/**
 * Collects the output of a command: the beginning and the end in memory, and all of it on disk once it is too long to show.
 * Secrets and control sequences are removed from both.
 */
export class CommandOutput {
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

  /** Adds a chunk and returns the text that can now be shown. */
  async add(chunk: Uint8Array): Promise<string> {
    this.#waiting += this.#stripper.push(chunk)
    const whole = this.#waiting.lastIndexOf('\n') + 1 || (this.#waiting.length > blockChars ? this.#waiting.length : 0)
    const text = this.#waiting.slice(0, whole)
    this.#waiting = this.#waiting.slice(whole)
    return this.#keep(text)
  }

  /** Returns a function that adds chunks and shows them as progress; it calls `over` if there are too many bytes. */
  collector({ progress }: Pick<ToolCall, 'progress'>, over: () => void): (chunk: Uint8Array) => Promise<void> {
    let bytes = 0
    return async (chunk) => {
      bytes += chunk.length
      if (bytes > mostBytes) return over()
      const text = await this.add(chunk)
      if (text !== '') progress(text)
    }
  }

  /** The text for the model, with the path of the whole output if it was cut. */
  async done(): Promise<string> {
    await this.#keep(this.#waiting + this.#stripper.end())
    this.#waiting = ''
    if (!this.#writer) return this.#head + this.#tail
    const place = this.#parts.blobs.place(await this.#writer.done())
    return joinCut(this.#head, this.#tail, this.#missing, place)
  }

  /** The last characters of the output so far. */
  get tail(): string {
    return this.#tail || this.#head.slice(-tailChars)
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
      // So far, nothing was left out between head and tail.
      await this.#writer.write(Buffer.from(this.#head + tail))
    } else await this.#writer?.write(Buffer.from(text))
    this.#missing += Math.max(0, tail.length - tailChars)
    this.#tail = tail.slice(-tailChars)
    return text
  }
}

type Take = (chunk: Uint8Array) => Promise<void>

/** The output of a command that a call waits for, until the command is sent to the background. */
export class FrontOutput {
  /** Resolves when the command is sent to the background. */
  readonly moved: Promise<'moved'>
  #resolve: (moved: 'moved') => void
  #taker: Take | undefined
  #working: Promise<void> = Promise.resolve()
  #next = Promise.withResolvers<Take>()

  constructor(take: Take) {
    const { promise, resolve } = Promise.withResolvers<'moved'>()
    this.moved = promise
    this.#resolve = resolve
    this.#taker = take
  }

  /** Receives a chunk; after the move it waits until it is known who receives the rest. */
  async take(chunk: Uint8Array): Promise<void> {
    if (!this.#taker) return (await this.#next.promise)(chunk)
    this.#working = this.#taker(chunk)
    await this.#working
  }

  /** Sends the command to the background; false if that was already done. */
  move(): boolean {
    if (!this.#taker) return false
    this.#taker = undefined
    const moved = () => this.#resolve('moved')
    // A chunk that is being processed still belongs to the call.
    void this.#working.then(moved, moved)
    return true
  }

  goOn(take: Take): void {
    this.#next.resolve(take)
  }
}
