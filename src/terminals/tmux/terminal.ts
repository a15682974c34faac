import type { Exit, Key, Screen, Terminal } from '../../core/screen/terminal.ts'
import type { Clock } from '../../base/clock.ts'
import type { TerminalFiles } from './files.ts'
import type { Pane } from './pane.ts'
import type { TmuxServer } from './server.ts'
import { writeFile } from 'node:fs/promises'
import { childrenOf } from '../children.ts'
import { endProgram } from '../ending.ts'
import { pasteText, tmuxKey } from '../keys.ts'
import { Alive, shellLives } from './alive.ts'
import { exitOfPane } from './exit.ts'
import { keptEnd, keptOutput } from './kept.ts'
import { captured, lastRows } from './screen.ts'
import { titleOption } from './pane.ts'
import { plain } from './text.ts'
import { lastTouch } from './touch.ts'

export type TmuxTerminalParts = {
  id: string
  server: TmuxServer
  pane: Pane
  files: TerminalFiles
  clock: Clock
  attach: string
  /** Aborts when the host lets go. */
  dropped: AbortSignal
}

/** A program in a pane of tmux, whoever opened it. */
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

  /** Watched from the first time that somebody wants to know. */
  get exited(): Promise<Exit> {
    this.#exited ??= this.#watch()
    return this.#exited
  }

  async write(text: string, person = false): Promise<void> {
    if (person) this.#touched = this.#parts.clock.now()
    if (text !== '') await this.#type(['paste-buffer', '-r'], text)
  }

  async paste(text: string): Promise<void> {
    if (text !== '') await this.#type(['paste-buffer', '-p'], pasteText(text))
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
    return (await captured(this.#parts.server, this.#pane)).screen
  }

  async history(rows: number): Promise<string[]> {
    return lastRows((await captured(this.#parts.server, this.#pane, rows)).rows, rows)
  }

  async paint(): Promise<{ at: number; text: string }> {
    const at = keptEnd(this.#parts.files.out)
    const { screen, cursorShown } = await captured(this.#parts.server, this.#pane, 0, true)
    const { row, col } = screen.cursor
    const cursor = `\u001b[?25${cursorShown ? 'h' : 'l'}\u001b[${row + 1};${col + 1}H`
    return { at, text: `\u001b[0m\u001b[2J\u001b[H${screen.rows.join('\r\n')}\u001b[0m${cursor}` }
  }

  async children(): Promise<number> {
    return shellLives(this.#parts.files.folder) ? childrenOf(this.#parts.pane.pid) : 0
  }

  output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    const { files, clock, dropped } = this.#parts
    // Whoever reads to the end must learn of it.
    void this.exited
    return keptOutput({ out: files.out, id: this.id, clock, gone: this.#gone.signal, dropped }, after)
  }

  async touched(): Promise<number> {
    this.#touched = Math.max(this.#touched, await lastTouch(this.#parts.server, this.#pane))
    return this.#touched
  }

  async retitle(title: string, ring = false): Promise<void> {
    const { server, pane } = this.#parts
    const name = plain(title)
    const shown =
      pane.mode === 'window'
        ? ['rename-window', '-t', pane.window, '--', name]
        : ['select-pane', '-t', pane.pane, '-T', name]
    // A program that calls itself something in its pane keeps that.
    const own = `#{||:#{==:#{pane_title},},#{==:#{pane_title},#{${titleOption}}}}`
    const may =
      pane.mode === 'window' || (await server.ask([['display-message', '-p', '-t', pane.pane, own]])).startsWith('1')
    await server.ask([...(may ? [shown] : []), ['set-option', '-p', '-t', pane.pane, '--', titleOption, title]])
    if (ring) await writeFile(pane.tty, '\u0007').catch(() => {})
  }

  async close(): Promise<void> {
    const { files, pane, server, clock, dropped } = this.#parts
    const known = files.place() !== undefined
    // The number of a shell that is gone may be a stranger's.
    await endProgram(this.id, shellLives(files.folder) ? pane.pid : undefined, clock)
    if (known && !dropped.aborted) await this.exited
    await server.ask([['kill-pane', '-t', pane.pane]]).catch(() => {})
    files.remove()
  }

  get #pane(): string {
    return this.#parts.pane.pane
  }

  get #leaveModes(): string[] {
    return ['copy-mode', '-q', '-t', this.#pane]
  }

  /** By a buffer of its own, because a command line of tmux is short and everyone's to see. */
  async #type(paste: string[], text: string): Promise<void> {
    const buffer = `termaite-${this.id}`
    const commands = [
      this.#leaveModes,
      ['load-buffer', '-b', buffer, '-'],
      [...paste, '-d', '-b', buffer, '-t', this.#pane],
    ]
    await this.#inOrder(commands, text)
  }

  /** What is typed arrives in the order it was asked for. */
  #inOrder(commands: string[][], input?: string): Promise<void> {
    const { server } = this.#parts
    const typed = this.#order.then(
      async () => void (await (input === undefined ? server.ask(commands) : server.run(commands, input))),
    )
    this.#order = typed.catch(() => {})
    return typed
  }

  async #watch(): Promise<Exit> {
    const { files, dropped, server, pane, clock } = this.#parts
    const alive = new Alive(files.folder)
    dropped.addEventListener('abort', () => alive.close(), { once: true })
    await alive.gone
    const exit = await exitOfPane(server, pane, files, clock)
    // Whoever closed the window by hand may have left those behind who do not listen.
    if (exit.code === undefined) await endProgram(this.id, undefined, clock)
    this.#gone.abort()
    return exit
  }
}
