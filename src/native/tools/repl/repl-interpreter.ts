import type { Run } from '../../../base/process/run.ts'
import type { ShellStart } from '../shared/tool-parts.ts'
import type { ShellParts } from '../shell/shell-command.ts'
import { randomBytes } from 'node:crypto'
import { startIn } from '../shell/shell-command.ts'

/** The walls around a command, as a text for comparisons. */
export const wallsOf = ({ walls, argv }: ShellStart): string => walls ?? argv.join('\0')

/** `begun` says whether the code reached the interpreter; without an `exit`, the interpreter ended before the code did. */
type Evaluated = { begun: boolean; exit?: number }

const nothing = new Uint8Array()
const lineEnd = 10

/** A running interpreter that evaluates one piece of code after another, by the driver for its language in this folder. */
export class Interpreter {
  readonly run: Run
  /** The walls behind which the interpreter was started. */
  readonly walls: string
  /** Resolves once the interpreter has exited and its leftovers are removed. */
  readonly settled: Promise<unknown>
  #chunks: AsyncIterator<Uint8Array>
  #used = false
  /** Output after the end of the last piece of code. */
  #unread: Uint8Array = nothing

  private constructor(run: Run, how: ShellStart) {
    this.run = run
    this.walls = wallsOf(how)
    this.settled = run.exited.then(() => how.settle?.())
    this.#chunks = run.stdout[Symbol.asyncIterator]()
  }

  static async start(how: ShellStart, cwd: string, parts: ShellParts): Promise<Interpreter> {
    const run = await startIn(how, cwd, parts)
    // Standard error is merged into standard output; this stream is only drained.
    void run.stderr[Symbol.asyncIterator]().next()
    return new Interpreter(run, how)
  }

  /** Evaluates code and passes its output to `take`. Output between two pieces of code is read with the next one. */
  async evaluate(code: string, take: (chunk: Uint8Array) => Promise<void>): Promise<Evaluated> {
    // Random, so that code cannot print a mark by accident or on purpose.
    const nonce = randomBytes(16).toString('hex')
    const marks = new MarkReader(nonce, this.#unread)
    const before: Uint8Array[] = []
    let begun = false
    let atStart = true
    this.run.stdin.write(`${JSON.stringify({ nonce, code })}\n`)
    for (;;) {
      for (let piece = marks.next(); piece; piece = marks.next()) {
        if (piece.mark === undefined) {
          atStart = piece.bytes.at(-1) === lineEnd
          if (begun) await take(piece.bytes)
          else before.push(piece.bytes)
        } else if (piece.mark === 'begin') {
          begun = true
          // Output during the start, for example of the shell's profile, was not printed by the code.
          if (this.#used) for (const bytes of before) await take(bytes)
          this.#used = true
        } else if (piece.mark === 'line') await take(atStart ? nothing : Uint8Array.of(lineEnd))
        else {
          this.#unread = marks.rest()
          return { begun, exit: Number(piece.mark) }
        }
      }
      const next = await this.#chunks.next()
      if (next.done) {
        for (const bytes of begun ? [] : before) await take(bytes)
        await take(marks.rest())
        return { begun }
      }
      marks.push(next.value)
    }
  }
}

/**
 * A piece of an interpreter's output: bytes that the code printed, or a mark of the driver: `begin`, `line` before output that
 * must start on a new line, and at the end the exit code.
 */
type OutputPiece = { bytes: Uint8Array; mark?: undefined } | { mark: string }

/** Finds marks of the form `<nonce><word>;` in a stream, however it is split into chunks; all other bytes are output of the code. */
export class MarkReader {
  #nonce: string
  #unread: Buffer

  constructor(nonce: string, unread: Uint8Array = new Uint8Array()) {
    this.#nonce = nonce
    this.#unread = Buffer.from(unread)
  }

  push(chunk: Uint8Array): void {
    this.#unread = this.#unread.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#unread, chunk])
  }

  /** The next complete piece; bytes that may be the beginning of a mark are held back. */
  next(): OutputPiece | undefined {
    const at = this.#unread.indexOf(this.#nonce)
    const plain = at < 0 ? this.#unread.length - this.#begun() : at
    if (plain > 0) return { bytes: this.#take(plain) }
    const end = at < 0 ? -1 : this.#unread.indexOf(';', this.#nonce.length)
    return end < 0 ? undefined : { mark: this.#take(end + 1).toString('utf8', this.#nonce.length, end) }
  }

  /** The bytes that were held back. */
  rest(): Uint8Array {
    return this.#take(this.#unread.length)
  }

  /** How many of the last bytes could be the beginning of the nonce. */
  #begun(): number {
    const most = Math.min(this.#nonce.length - 1, this.#unread.length)
    for (let length = most; length > 0; length--)
      if (this.#nonce.startsWith(this.#unread.toString('latin1', this.#unread.length - length))) return length
    return 0
  }

  #take(bytes: number): Buffer {
    const taken = this.#unread.subarray(0, bytes)
    this.#unread = this.#unread.subarray(bytes)
    return taken
  }
}
