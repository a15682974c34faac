import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/time/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { AttachKeys } from './attach-keys.ts'
import { callAfter } from '../../base/time/clock.ts'
import { killChild } from '../../base/process/kill-child.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { stripAnsi } from '../../base/text/ansi.ts'
import { DetachKeys, detachKey } from './attach-keys.ts'
import { OutputFilter } from './output-filter.ts'

/** The person's own terminal. */
type AttachIo = {
  in: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  out: Writable & { isTTY?: boolean; columns?: number; rows?: number; fd?: number }
  clock: Clock
  signal: AbortSignal
}

/** How an attachment ended: the person left the program running, the program exited, or termaite had to stop. */
type AttachEnd = 'detached' | 'exited' | 'ended'

/** The differences of an attachment from the usual one, which is left with Ctrl+]. */
type AttachOptions = {
  keys: AttachKeys
  /** Shown on the last row for a moment, to name these keys. */
  hint: string
  /** Keeps the program from setting the title of the person's window. */
  untitled?: true
}

/** How long the hint stays if no key is pressed. */
const hintMs = 4_000

/** Shows another terminal in the person's own and passes their keys on, until they leave it. */
export async function attach(terminal: Terminal, io: AttachIo, options?: AttachOptions): Promise<AttachEnd> {
  if (!io.in.isTTY || !io.out.isTTY) throw new Error('this command needs a terminal')
  return terminal.attach === undefined || options
    ? new Attachment(terminal, io, options).run()
    : attachByCommand(terminal.attach, io)
}

/** Runs the terminal's own attach command, for a terminal such as a tmux window that can be shown without termaite. */
async function attachByCommand(command: string, { signal }: AttachIo): Promise<AttachEnd> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: 'inherit' })
  const end = () => killChild(child)
  signal.addEventListener('abort', end, { once: true })
  const [code] = (await once(child, 'exit')) as [number | null]
  signal.removeEventListener('abort', end)
  if (signal.aborted) return 'ended'
  if (code !== 0) throw new Error(`the terminal could not be shown: ${command}`)
  return 'detached'
}

/** One person attached to one embedded terminal. */
class Attachment {
  #terminal: Terminal
  #io: AttachIo
  #options: AttachOptions | undefined
  #end = Promise.withResolvers<AttachEnd>()
  /** The number of the newest picture; a loop that still draws an older one stops. */
  #picture = 0
  #over = false
  #hint = ''

  constructor(terminal: Terminal, io: AttachIo, options: AttachOptions | undefined) {
    this.#terminal = terminal
    this.#io = io
    this.#options = options
  }

  async run(): Promise<AttachEnd> {
    const { in: input, out, signal, clock } = this.#io
    const asleep = new AbortController()
    const stop = () => this.#leave('ended')
    const resized = () => {
      // A terminal that cannot be resized is painted at its current size.
      void this.#fit().then(() => this.#repaint())
    }
    const type = this.#typing()
    const giveBack = takeScreen(out)
    setRawMode(input, true)
    input.on('data', type).resume()
    out.on('resize', resized)
    signal.addEventListener('abort', stop, { once: true })
    try {
      if (signal.aborted) stop()
      await this.#fit()
      this.#hint = ` ${this.#options?.hint ?? (await this.#usualHint())} `
      // The hint disappears after a while, without a key.
      callAfter(clock, hintMs, asleep.signal, () => this.#dropHint())
      this.#repaint()
      return await this.#end.promise
    } finally {
      this.#over = true
      this.#picture++
      asleep.abort()
      signal.removeEventListener('abort', stop)
      out.off('resize', resized)
      input.off('data', type).pause()
      setRawMode(input, false)
      giveBack()
    }
  }

  async #usualHint(): Promise<string> {
    const { title } = await this.#terminal.screen()
    return `${stripAnsi(title ?? '').replaceAll(/\s+/g, ' ')} · ${detachKey} leaves it running`
  }

  #leave(how: AttachEnd): void {
    this.#end.resolve(how)
  }

  #typing(): (chunk: Buffer) => void {
    const decoder = new StringDecoder()
    const keys = this.#options?.keys ?? new DetachKeys()
    return (chunk) => {
      const { typed, leaves } = keys.push(decoder.write(chunk))
      // The end of the output shows that a terminal is gone.
      if (typed !== '') this.#terminal.write(typed, true).catch(() => {})
      if (leaves) this.#leave('detached')
      else this.#dropHint()
    }
  }

  #repaint(): void {
    if (this.#over) return
    const picture = ++this.#picture
    // A terminal that cannot be painted has lost its process.
    this.#show(picture).catch(() => this.#leave('exited'))
  }

  /** Draws the whole screen and then the program's output, until a newer picture begins or the program exits. */
  async #show(picture: number): Promise<void> {
    const { at, text } = await this.#terminal.paint()
    if (picture !== this.#picture) return
    this.#io.out.write(`\u001b[?2026h\u001b[0m\u001b[2J${text}${this.#hintRow()}\u001b[?2026l`)
    const filter = new OutputFilter(this.#options?.untitled === true)
    let next = at
    for await (const drawn of this.#terminal.output(at)) {
      if (picture !== this.#picture) return
      // If the person's terminal is slower than the program, bytes are missing, and later ones would be drawn in the wrong places.
      if (drawn.at > next) return this.#repaint()
      next = drawn.at + drawn.bytes.length
      const { bytes, repaint } = filter.push(drawn.bytes)
      if (repaint) return this.#repaint()
      this.#io.out.write(bytes)
    }
    this.#leave('exited')
  }

  async #fit(): Promise<void> {
    const { columns, rows } = this.#io.out
    if (columns && rows) await this.#terminal.resize(columns, rows).catch(() => {})
  }

  /** The hint over the last row, which the next picture restores. */
  #hintRow(): string {
    const { rows = 24, columns = 80 } = this.#io.out
    if (this.#hint === '') return ''
    return `\u001b7\u001b[${rows};1H\u001b[0;7m${this.#hint.slice(0, columns)}\u001b[0m\u001b8`
  }

  #dropHint(): void {
    if (this.#hint === '') return
    this.#hint = ''
    this.#repaint()
  }
}

/** Switches raw mode on or off; does nothing for a terminal that was closed meanwhile. */
export function setRawMode(input: { setRawMode?(raw: boolean): unknown }, raw: boolean): void {
  try {
    input.setRawMode?.(raw)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
  }
}

/** The alternate screen, so that the person's own screen reappears afterwards. */
const enterSequence = '\u001b[?1049h\u001b[2J\u001b[H'

/** Switches off every mode that a program may have switched on, so that the person finds their terminal as it was. */
export const restoreSequence = [
  // Synchronized updates, mouse, focus, pastes, wrapping, cursor keys, keypad, insert mode, margins, letters.
  '\u001b[?2026l\u001b[?9l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1005l\u001b[?1006l\u001b[?1015l\u001b[?1016l\u001b[?1004l\u001b[?2004l',
  '\u001b[?7h\u001b[?1l\u001b>\u001b[4l\u001b[?6l\u001b[r\u001b(B\u000f',
  // Keyboard protocols, the shape of the cursor, colours, and the screen itself.
  '\u001b[<u\u001b[=0u\u001b[>4;0m\u001b[0 q\u001b[?25h\u001b[0m\u001b[?1049l',
].join('')

/** Takes over the person's screen; the returned function restores it, as does the end of this process. */
export function takeScreen(out: Writable & { fd?: number }): () => void {
  let taken = true
  const exited = () => {
    if (taken && out.fd !== undefined) writeSync(out.fd, restoreSequence)
  }
  process.once('exit', exited)
  out.write(enterSequence)
  return () => {
    if (taken) out.write(restoreSequence)
    taken = false
    process.off('exit', exited)
  }
}
