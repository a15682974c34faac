import type { Run } from '../../base/process/run.ts'
import type { ShellParts } from '../shell/shell-command.ts'
import { randomBytes } from 'node:crypto'
import { startIn } from '../shell/shell-command.ts'

/** `begun`: the code reached it. Without an `exit` the interpreter came to its end before the code did. */
export type Evaluated = { begun: boolean; exit?: number }

const nothing = new Uint8Array()
const lineEnd = 10

/** A living interpreter, which runs one piece of code after another; see the drivers beside. */
export class Interpreter {
  readonly run: Run
  /** What it was started by: the walls it is in. */
  readonly walls: readonly string[]
  #chunks: AsyncIterator<Uint8Array>
  #used = false
  /** What was written after the last piece came to its end. */
  #unread: Uint8Array = nothing

  private constructor(run: Run, walls: readonly string[]) {
    this.run = run
    this.walls = walls
    this.#chunks = run.stdout[Symbol.asyncIterator]()
  }

  static async start(walls: readonly string[], cwd: string, parts: ShellParts): Promise<Interpreter> {
    const run = await startIn(walls, cwd, parts)
    // Both outputs come by the other one.
    void run.stderr[Symbol.asyncIterator]().next()
    return new Interpreter(run, walls)
  }

  /** Nobody reads what it writes between two pieces: whoever writes much then, waits. */
  async evaluate(code: string, take: (chunk: Uint8Array) => Promise<void>): Promise<Evaluated> {
    // Not to be guessed by what the code prints.
    const nonce = randomBytes(16).toString('hex')
    const marks = new Marks(nonce, this.#unread)
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
          // What is said while it starts, by a shell's own files for one, is nothing that the code printed.
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
 * A piece of what an interpreter wrote: what code printed, or a mark of its driver: `begin`, `line` before what does not
 * go on with a line that code began, and at the end the exit code.
 */
export type Piece = { bytes: Uint8Array; mark?: undefined } | { mark: string }

/** Finds `<nonce><word>;` in a stream, wherever its chunks are cut; all else is what code printed. */
export class Marks {
  #nonce: string
  #unread: Buffer

  constructor(nonce: string, unread: Uint8Array = new Uint8Array()) {
    this.#nonce = nonce
    this.#unread = Buffer.from(unread)
  }

  push(chunk: Uint8Array): void {
    this.#unread = this.#unread.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#unread, chunk])
  }

  /** The next piece that is whole; what may be the beginning of a mark is held back. */
  next(): Piece | undefined {
    const at = this.#unread.indexOf(this.#nonce)
    const plain = at < 0 ? this.#unread.length - this.#begun() : at
    if (plain > 0) return { bytes: this.#take(plain) }
    const end = at < 0 ? -1 : this.#unread.indexOf(';', this.#nonce.length)
    return end < 0 ? undefined : { mark: this.#take(end + 1).toString('utf8', this.#nonce.length, end) }
  }

  /** What no piece was made of. */
  rest(): Uint8Array {
    return this.#take(this.#unread.length)
  }

  /** How many of the last bytes could begin the nonce. */
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
