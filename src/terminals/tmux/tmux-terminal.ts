import type { Clock } from '../../base/time/clock.ts'
import type { Exit, Key, Picture, Screen, Terminal } from '../../core/screen/terminal.ts'
import type { Pane } from './pane.ts'
import type { TerminalFiles } from './terminal-files.ts'
import type { TmuxServer } from './tmux-server.ts'
import { writeFile } from 'node:fs/promises'
import { openedBy } from '../../base/process/process-table.ts'
import { childrenOf } from '../program/child-processes.ts'
import { pasteText, tmuxKey } from '../program/terminal-keys.ts'
import { endProgram, markOf } from '../program/terminal-program.ts'
import { outputEnd, readOutput } from './output-reader.ts'
import { capturePane, exitOfPane, lastKeyTime, lastRows } from './pane-state.ts'
import { markOption, titleOption } from './pane.ts'
import { shellLives, ShellWatch } from './shell-watch.ts'
import { plain } from './tmux-server.ts'

type TmuxTerminalParts = {
  id: string
  server: TmuxServer
  pane: Pane
  files: TerminalFiles
  clock: Clock
  attach: string
  /** Aborts when the host is closed. */
  dropped: AbortSignal
}

/** How long bytes that tmux has drawn may take to reach the files. */
const handedOnMs = 20
/** A program that draws all the time gets a picture that may be inexact. */
const mostPictures = 3

const colours = /\u001b\[[\d;:]*m/g

/** A program in a tmux pane, opened by this process or another one. */
export class TmuxTerminal implements Terminal {
  readonly id: string
  readonly attach: string
  #parts: TmuxTerminalParts
  #exited: Promise<Exit> | undefined
  #gone = new AbortController()
  #touched = 0
  #order: Promise<unknown> = Promise.resolve()

  constructor(parts: TmuxTerminalParts) {
    this.id = parts.id
    this.attach = parts.attach
    this.#parts = parts
  }

  /** The shell is watched from the first use of this property. */
  get exited(): Promise<Exit> {
    this.#exited ??= this.#watch()
    return this.#exited
  }

  async write(text: string, person = false): Promise<void> {
    if (person) this.#parts.files.touch(this.#parts.clock.now())
    if (text !== '') await this.#type(['paste-buffer', '-r'], text)
  }

  async paste(text: string, person = false, mark?: string): Promise<void> {
    if (person) this.#parts.files.touch(this.#parts.clock.now())
    // tmux runs all commands of a request, even if this process is killed meanwhile.
    const marking = mark === undefined ? [] : [['set-option', '-p', '-t', this.#pane, '--', markOption, mark]]
    if (text !== '') await this.#type(['paste-buffer', '-p'], pasteText(text), marking)
  }

  async lastMark(): Promise<string | undefined> {
    const show = ['display-message', '-p', '-t', this.#pane, `#{${markOption}}`]
    return (await this.#parts.server.ask([show])).trim() || undefined
  }

  async press(key: Key): Promise<void> {
    const name = tmuxKey(key)
    if (name === undefined) return this.write(key)
    await this.#inOrder([this.#leaveModes, ['send-keys', '-t', this.#pane, name]])
  }

  async resize(cols: number, rows: number): Promise<void> {
    const { server, pane } = this.#parts
    const what = pane.mode === 'pane' ? ['resize-pane', '-t', pane.pane] : ['resize-window', '-t', pane.window]
    await server.ask([[...what, '-x', String(cols), '-y', String(rows)]])
  }

  async screen(): Promise<Screen> {
    return (await capturePane(this.#parts.server, this.#pane)).screen
  }

  async history(rows: number): Promise<string[]> {
    return lastRows((await capturePane(this.#parts.server, this.#pane, rows)).rows, rows)
  }

  /** tmux draws before it passes the bytes on, so a picture is only exact if no bytes were passed on around it. */
  async paint(above = 0): Promise<Picture> {
    const { files, clock } = this.#parts
    for (let tries = 1; ; tries++) {
      const at = outputEnd(files.out)
      const picture = { at, ...(await this.#picture(above)) }
      await clock.sleep(handedOnMs)
      if (outputEnd(files.out) === at) return picture
      if (tries === mostPictures) return { ...picture, unsure: true }
    }
  }

  async children(): Promise<number> {
    return shellLives(this.#parts.files.folder) ? childrenOf(this.#parts.pane.pid) : 0
  }

  opened(paths: readonly string[]): Promise<string[] | undefined> {
    return openedBy(markOf(this.id), paths)
  }

  output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    const { files, clock, dropped } = this.#parts
    // Starts the watch, which tells the reader of the output that it is over.
    void this.exited
    return readOutput({ out: files.out, id: this.id, clock, gone: this.#gone.signal, dropped }, after)
  }

  async touched(): Promise<number> {
    const { server, files } = this.#parts
    this.#touched = Math.max(this.#touched, files.touched(), await lastKeyTime(server, this.#pane))
    return this.#touched
  }

  async retitle(title: string, ring = false): Promise<void> {
    const { server, pane } = this.#parts
    const name = plain(title)
    const shown =
      pane.mode === 'window'
        ? ['rename-window', '-t', pane.window, '--', name]
        : ['select-pane', '-t', pane.pane, '-T', name]
    // A title that the program itself has set is kept.
    const own = `#{||:#{==:#{pane_title},},#{==:#{pane_title},#{${titleOption}}}}`
    const may =
      pane.mode === 'window' || (await server.ask([['display-message', '-p', '-t', pane.pane, own]])).startsWith('1')
    await server.ask([...(may ? [shown] : []), ['set-option', '-p', '-t', pane.pane, '--', titleOption, title]])
    if (ring) await writeFile(pane.tty, '\u0007').catch(() => {})
  }

  async close(): Promise<void> {
    const { files, pane, server, clock, dropped } = this.#parts
    const known = files.place() !== undefined
    // After a shell has exited, its process number may belong to a stranger.
    await endProgram(this.id, shellLives(files.folder) ? pane.pid : undefined, clock)
    if (known && !dropped.aborted) await this.exited
    await server.ask([['kill-pane', '-t', pane.pane]]).catch(() => {})
    files.remove()
  }

  async #picture(above: number): Promise<Omit<Picture, 'at'>> {
    const { screen, rows, modes } = await capturePane(this.#parts.server, this.#pane, above, true)
    const { row, col } = screen.cursor
    const wanted = Math.min(rows.length, screen.rows.length + above)
    const drawn = rows.slice(-wanted)
    // A row begins with the colours at the end of the previous row.
    const begun = rows.slice(0, -wanted).join('').match(colours)?.join('') ?? ''
    const text = `\u001b[0m\u001b[r\u001b[2J\u001b[H${begun}${drawn.join('\r\n')}\u001b[0m${modes}\u001b[${row + 1};${col + 1}H`
    return { text, cols: screen.cols, rows: screen.rows.length }
  }

  get #pane(): string {
    return this.#parts.pane.pane
  }

  get #leaveModes(): string[] {
    return ['copy-mode', '-q', '-t', this.#pane]
  }

  /** Pastes through a tmux buffer, because a command line of tmux is short and visible to everybody. */
  async #type(paste: string[], text: string, then: string[][] = []): Promise<void> {
    const buffer = `termaite-${this.id}`
    const commands = [
      this.#leaveModes,
      ['load-buffer', '-b', buffer, '-'],
      [...paste, '-d', '-b', buffer, '-t', this.#pane],
      ...then,
    ]
    await this.#inOrder(commands, text)
  }

  /** Runs commands after all earlier ones, so that keys arrive in the order in which they were sent. */
  #inOrder(commands: string[][], input?: string): Promise<void> {
    const { server } = this.#parts
    const typed = this.#order.then(async () => {
      await (input === undefined ? server.ask(commands) : server.run(commands, input))
    })
    this.#order = typed.catch(() => {})
    return typed
  }

  async #watch(): Promise<Exit> {
    const { files, dropped, server, pane, clock } = this.#parts
    const alive = new ShellWatch(files.folder)
    // A signal that has already aborted sends no more events, and an open watch would keep this process from exiting.
    if (dropped.aborted) alive.close()
    else dropped.addEventListener('abort', () => alive.close(), { once: true })
    await alive.gone
    const exit = await exitOfPane(server, pane, files, clock)
    // A window that was closed by hand may leave processes behind that ignore the hang-up.
    if (exit.code === undefined) await endProgram(this.id, undefined, clock)
    this.#gone.abort()
    return exit
  }
}
