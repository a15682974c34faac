import type { Clock } from '../../base/time/clock.ts'
import type { Exit, Key, Picture, Screen, Terminal } from '../../core/screen/terminal.ts'
import type { Emulator, IPty } from './libraries.ts'
import { RecentBytes } from '../../base/recent-bytes.ts'
import { openedBy } from '../../base/process/process-table.ts'
import { unwatch } from '../../base/process/watchdog.ts'
import { childrenOf } from '../program/child-processes.ts'
import { EndMark, printEndMark } from '../program/end-mark.ts'
import { keyBytes, pasteBytes, pasteText } from '../program/terminal-keys.ts'
import { endProgram, exitOf, markOf, programScript } from '../program/terminal-program.ts'
import { EmulatedScreen } from './emulated-screen.ts'

/** Tells the shell that all output has been read. */
const readSignal = 'SIGUSR1'

/** Runs the program, then waits until all output was read: a PTY loses unread bytes soon after its shell has exited. */
export function ptyScript(id: string): string {
  return programScript('', `trap 'kill $!; exit $code' USR1\n${printEndMark(id)}sleep 60 & wait\n`)
}

const ring = new Uint8Array([7])

/** A client that attaches late starts from a painted screen and only needs the bytes that were drawn after it. */
const mostKept = 512 * 1024

/** A program in a PTY of this process. */
export class PtyTerminal implements Terminal {
  readonly id: string
  readonly exited: Promise<Exit>
  #pty: IPty
  #screen: EmulatedScreen
  #output = new RecentBytes(mostKept)
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
    this.#screen = new EmulatedScreen(emulator, {
      reply: (text) => this.#send(text),
      flow: (go) => (go ? pty.resume() : pty.pause()),
    })
    const end = new EndMark(id)
    // The PTY is opened without an encoding and returns bytes, although its type says string.
    pty.onData((chunk) => this.#take(end, chunk as unknown as Uint8Array))
    this.exited = new Promise<Exit>((resolve) =>
      pty.onExit(({ exitCode, signal }) => resolve(exitOf(exitCode, signal))),
    ).then((exit) => this.#leave(exit, end))
  }

  async write(text: string, person = false): Promise<void> {
    if (person) this.#touched = this.#clock.now()
    this.#send(text)
  }

  async paste(text: string, person = false): Promise<void> {
    if (person) this.#touched = this.#clock.now()
    await this.#screen.drawn()
    this.#send(this.#screen.modes.bracketedPasteMode ? pasteBytes(text) : pasteText(text))
  }

  async press(key: Key): Promise<void> {
    this.#send(keyBytes(key, this.#screen.modes.applicationCursorKeysMode))
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#screen.drawn()
    this.#screen.resize(cols, rows)
    if (!this.#over) this.#pty.resize(cols, rows)
  }

  screen(): Promise<Screen> {
    return this.#screen.screen()
  }

  paint(above = 0): Promise<Picture> {
    return this.#screen.paint(above)
  }

  history(rows: number): Promise<string[]> {
    return this.#screen.history(rows)
  }

  async children(): Promise<number> {
    return this.#over ? 0 : childrenOf(this.#pty.pid)
  }

  opened(paths: readonly string[]): Promise<string[] | undefined> {
    return openedBy(markOf(this.id), paths)
  }

  output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    return this.#output.follow(after)
  }

  remember(rows: number): void {
    this.#screen.remember(rows)
  }

  async touched(): Promise<number> {
    return this.#touched
  }

  async retitle(title: string, rings = false): Promise<void> {
    this.#screen.call(title)
    // The bell is part of the output, so that it rings for attached clients.
    if (rings && !this.#over) this.#show(ring)
  }

  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  /** The end mark comes after the last byte; the shell that printed it waits for the signal that it was read. */
  #take(end: EndMark, chunk: Uint8Array): void {
    const before = end.found
    this.#show(end.push(chunk))
    if (end.found && !before) this.#pty.kill(readSignal)
  }

  #show(bytes: Uint8Array): void {
    this.#output.push(bytes)
    this.#screen.draw(bytes)
  }

  async #leave(exit: Exit, end: EndMark): Promise<Exit> {
    this.#over = true
    this.#show(end.rest())
    await this.#screen.drawn()
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
