import type { Exit, Key, Screen, Terminal } from '../../core/screen/terminal.ts'
import type { Clock } from '../../base/clock.ts'
import type { Emulator, IPty } from './load.ts'
import { KeptBytes } from '../../base/kept-bytes.ts'
import { unwatch } from '../../base/process/watchdog.ts'
import { childrenOf } from '../children.ts'
import { endProgram, markOf } from '../ending.ts'
import { EndMark } from '../end-mark.ts'
import { exitOf } from '../exit.ts'
import { keyBytes, pasteBytes, typedText } from '../keys.ts'
import { Glass } from './glass.ts'
import { seenSignal } from './script.ts'

const ring = new Uint8Array([7])

/** Whoever comes late begins with a picture, and needs what was drawn since then alone. */
const mostKept = 512 * 1024

/** A program in a PTY of this process. */
export class EmbeddedTerminal implements Terminal {
  readonly id: string
  readonly exited: Promise<Exit>
  #pty: IPty
  #glass: Glass
  #output = new KeptBytes(mostKept)
  #clock: Clock
  #touched = 0
  #over = false
  #closing: Promise<void> | undefined
  #closed: () => void

  constructor(id: string, pty: IPty, emulator: Emulator, clock: Clock, closed: () => void) {
    this.id = id
    this.#closed = closed
    this.#pty = pty
    this.#clock = clock
    this.#glass = new Glass(emulator, {
      reply: (text) => this.#send(text),
      flow: (go) => (go ? pty.resume() : pty.pause()),
    })
    const end = new EndMark(id)
    // It is opened without an encoding, and gives bytes, whatever its type says.
    pty.onData((chunk) => this.#take(end, chunk as unknown as Uint8Array))
    this.exited = new Promise<Exit>((resolve) =>
      pty.onExit(({ exitCode, signal }) => resolve(exitOf(exitCode, signal))),
    ).then((exit) => this.#leave(exit, end))
  }

  async write(text: string, person = false): Promise<void> {
    if (person) this.#touched = this.#clock.now()
    this.#send(text)
  }

  async paste(text: string): Promise<void> {
    await this.#glass.drawn()
    this.#send(this.#glass.modes.bracketedPasteMode ? pasteBytes(text) : typedText(text))
  }

  async press(key: Key): Promise<void> {
    this.#send(keyBytes(key, this.#glass.modes.applicationCursorKeysMode))
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#glass.drawn()
    this.#glass.resize(cols, rows)
    if (!this.#over) this.#pty.resize(cols, rows)
  }

  screen(): Promise<Screen> {
    return this.#glass.screen()
  }

  paint(): Promise<{ at: number; text: string }> {
    return this.#glass.paint()
  }

  history(rows: number): Promise<string[]> {
    return this.#glass.history(rows)
  }

  async children(): Promise<number> {
    return this.#over ? 0 : childrenOf(this.#pty.pid)
  }

  output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    return this.#output.follow(after)
  }

  remember(rows: number): void {
    this.#glass.remember(rows)
  }

  async touched(): Promise<number> {
    return this.#touched
  }

  async retitle(title: string, rings = false): Promise<void> {
    this.#glass.call(title)
    // Whoever is attached hears it.
    if (rings && !this.#over) this.#show(ring)
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  /** The mark is behind the last byte: the shell that printed it waits until it was seen here. */
  #take(end: EndMark, chunk: Uint8Array): void {
    const before = end.found
    this.#show(end.push(chunk))
    if (end.found && !before) this.#pty.kill(seenSignal)
  }

  #show(bytes: Uint8Array): void {
    this.#output.push(bytes)
    this.#glass.draw(bytes)
  }

  async #leave(exit: Exit, end: EndMark): Promise<Exit> {
    this.#over = true
    this.#show(end.rest())
    await this.#glass.drawn()
    this.#output.close()
    return exit
  }

  async #end(): Promise<void> {
    this.#closed()
    await endProgram(this.id, this.#over ? undefined : this.#pty.pid, this.#clock)
    unwatch(markOf(this.id))
    await this.exited
  }

  #send(text: string): void {
    if (!this.#over && text !== '') this.#pty.write(text)
  }
}
