import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../base/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import { stripAnsi } from '../../base/ansi.ts'
import { detachKey, DetachKeys } from './attach-keys.ts'
import { OutputFilter } from './output-filter.ts'
import { writeSync } from 'node:fs'

/** The person's own terminal. */
export type AttachIo = {
  in: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown }
  out: Writable & { isTTY?: boolean; columns?: number; rows?: number; fd?: number }
  clock: Clock
  signal: AbortSignal
}

/** The person left it running, its program is over, or we are. */
export type AttachEnd = 'detached' | 'exited' | 'ended'

/** A visit that is not the usual one: the keys that are not for the program, what is said of them first, and who names the window. */
export type AttachOptions = {
  keys: { push(text: string): { typed: string; leaves: boolean } }
  hint: string
  /** Whether what the program calls itself is kept from the person's window. */
  untitled?: true
}

/** How long the hint stays when no key is pressed. */
const hintMs = 4_000

/** Hands the person's terminal to another one, until they leave it. */
export async function attach(terminal: Terminal, io: AttachIo, manner?: AttachOptions): Promise<AttachEnd> {
  if (!io.in.isTTY || !io.out.isTTY) throw new Error('there is no terminal here to show it in')
  return terminal.attach === undefined || manner
    ? new Attachment(terminal, io, manner).run()
    : elsewhere(terminal.attach, io)
}

/** Where a terminal can be seen without us, that is how it is seen best. */
async function elsewhere(command: string, { signal }: AttachIo): Promise<AttachEnd> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: 'inherit' })
  const end = () => child.kill()
  signal.addEventListener('abort', end, { once: true })
  const [code] = (await once(child, 'exit')) as [number | null]
  signal.removeEventListener('abort', end)
  if (signal.aborted) return 'ended'
  if (code !== 0) throw new Error(`it could not be shown: ${command}`)
  return 'detached'
}

/** One person at one embedded terminal. */
class Attachment {
  #terminal: Terminal
  #io: AttachIo
  #left = Promise.withResolvers<AttachEnd>()
  /** Which picture is the last: whoever still draws on an older one stops. */
  #picture = 0
  #over = false
  #hint = ''
  #manner: AttachOptions | undefined

  constructor(terminal: Terminal, io: AttachIo, manner: AttachOptions | undefined) {
    this.#terminal = terminal
    this.#io = io
    this.#manner = manner
  }

  async run(): Promise<AttachEnd> {
    const { in: input, out, signal, clock } = this.#io
    const asleep = new AbortController()
    const stop = () => this.#leave('ended')
    const resized = () => void this.#fit().then(() => this.#repaint())
    const type = this.#typing()
    const giveBack = takeScreen(out)
    setRawMode(input, true)
    input.on('data', type).resume()
    out.on('resize', resized)
    signal.addEventListener('abort', stop, { once: true })
    try {
      if (signal.aborted) stop()
      await this.#fit()
      this.#hint = ` ${this.#manner?.hint ?? (await this.#usualHint())} `
      void clock.sleep(hintMs, asleep.signal).then(() => this.#dropHint())
      this.#repaint()
      return await this.#left.promise
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
    this.#left.resolve(how)
  }

  #typing(): (chunk: Buffer) => void {
    const decoder = new StringDecoder()
    const key = this.#manner?.keys ?? new DetachKeys()
    return (chunk) => {
      const { typed, leaves } = key.push(decoder.write(chunk))
      // A terminal that is gone tells so by its output.
      if (typed !== '') this.#terminal.write(typed, true).catch(() => {})
      if (leaves) this.#leave('detached')
      else this.#dropHint()
    }
  }

  #repaint(): void {
    if (this.#over) return
    const picture = ++this.#picture
    // Its process is gone, and so is it.
    this.#show(picture).catch(() => this.#leave('exited'))
  }

  /** A picture, and what comes after it, until there is another one or the program is over. */
  async #show(picture: number): Promise<void> {
    const { at, text } = await this.#terminal.paint()
    if (picture !== this.#picture) return
    this.#io.out.write(`\u001b[?2026h\u001b[0m\u001b[2J${text}${this.#hinted()}\u001b[?2026l`)
    const shown = new OutputFilter(this.#manner?.untitled === true)
    for await (const drawn of this.#terminal.output(at)) {
      if (picture !== this.#picture) return
      const { bytes, again } = shown.push(drawn.bytes)
      if (again) return this.#repaint()
      this.#io.out.write(bytes)
    }
    this.#leave('exited')
  }

  async #fit(): Promise<void> {
    const { columns, rows } = this.#io.out
    if (columns && rows) await this.#terminal.resize(columns, rows).catch(() => {})
  }

  /** On the last row, over whatever is there: what needs the row gets it back with the next picture. */
  #hinted(): string {
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

type Keys = { setRawMode?(raw: boolean): unknown }

/** Key by key, or line by line again; a terminal that was closed meanwhile has neither. */
export function setRawMode(input: Keys, raw: boolean): void {
  try {
    input.setRawMode?.(raw)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
  }
}

/** A screen beside the person's own, so that theirs is there again afterwards. */
const enter = '\u001b[?1049h\u001b[2J\u001b[H'

/** Everything that a program may have switched on, off: whoever comes back types in a terminal as it was. */
export const restoreSequence = [
  // Synchronized updates, mouse, focus, pastes, wrapping, cursor keys, keypad, insert mode, margins, letters.
  '\u001b[?2026l\u001b[?9l\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1005l\u001b[?1006l\u001b[?1015l\u001b[?1016l\u001b[?1004l\u001b[?2004l',
  '\u001b[?7h\u001b[?1l\u001b>\u001b[4l\u001b[?6l\u001b[r\u001b(B\u000f',
  // The keyboards that programs ask for, the shape of the cursor, colours, and the screen itself.
  '\u001b[<u\u001b[=0u\u001b[>4;0m\u001b[0 q\u001b[?25h\u001b[0m\u001b[?1049l',
].join('')

/** Takes the person's screen, and gives it back once: at the end, or when this process ends on the way. */
export function takeScreen(out: Writable & { fd?: number }): () => void {
  let taken = true
  const crashed = () => {
    if (taken && out.fd !== undefined) writeSync(out.fd, restoreSequence)
  }
  process.once('exit', crashed)
  out.write(enter)
  return () => {
    if (taken) out.write(restoreSequence)
    taken = false
    process.off('exit', crashed)
  }
}
