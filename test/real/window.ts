import { execFileSync } from 'node:child_process'
import { start } from '../cli/program.ts'
import { until } from '../until.ts'

export type WindowPlace = { cwd: string; env: Record<string, string | undefined> }

/** The built program in a window of a real tmux, as a person has it. */
export class TmuxWindow {
  #socket: string
  #place: WindowPlace
  #name = 'day'

  constructor(socket: string, place: WindowPlace) {
    this.#socket = socket
    this.#place = place
  }

  /** Starts the program in the window; one that was there is gone. */
  start(args: readonly string[] = [], size = { cols: 80, rows: 24 }): void {
    this.end()
    const { cwd, env } = this.#place
    // The variables are not set with -e, because tmux takes PATH from its own environment.
    const set = Object.entries({ TERM: 'tmux-256color', ...env }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    )
    this.#tmux(
      ...['-f', '/dev/null', 'new-session', '-d', '-s', this.#name, '-x', `${size.cols}`, '-y', `${size.rows}`],
      ...['-c', cwd, '--', 'env', '-i', ...set, ...start, ...args],
    )
    this.#tmux('set-option', '-g', 'remain-on-exit', 'on')
  }

  /** The process id of the program. */
  get pid(): number {
    return Number(this.#tmux('display-message', '-p', '-t', this.#name, '#{pane_pid}'))
  }

  get dead(): boolean {
    return this.#tmux('display-message', '-p', '-t', this.#name, '#{pane_dead}').trim() === '1'
  }

  type(text: string): void {
    this.#tmux('send-keys', '-t', this.#name, '-l', text)
  }

  /** Presses keys by tmux's names for them: Enter, Escape, Down. */
  press(...keys: string[]): void {
    for (const key of keys) this.#tmux('send-keys', '-t', this.#name, key)
  }

  say(prompt: string): void {
    this.type(prompt)
    this.press('Enter')
  }

  resize(cols: number, rows: number): void {
    this.#tmux('resize-window', '-t', this.#name, '-x', `${cols}`, '-y', `${rows}`)
  }

  screen(): string {
    return this.#tmux('capture-pane', '-p', '-t', this.#name)
  }

  /** The screen with the sequences of its colours. */
  painted(): string {
    return this.#tmux('capture-pane', '-p', '-e', '-t', this.#name)
  }

  /** Resolves with the screen once it shows all of these. */
  async shows(...signs: (string | RegExp)[]): Promise<string> {
    const all = (screen: string) =>
      signs.every((sign) => (typeof sign === 'string' ? screen.includes(sign) : sign.test(screen)))
    try {
      await until(() => all(this.screen()))
    } catch {
      throw new Error(`the screen never showed ${signs.join(' and ')}:\n${this.screen()}`)
    }
    return this.screen()
  }

  end(): void {
    try {
      this.#tmux('kill-session', '-t', this.#name)
    } catch {
      // There was none.
    }
  }

  /** Ends the tmux server of this window. */
  close(): void {
    try {
      this.#tmux('kill-server')
    } catch {
      // The server ended with its last window.
    }
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: this.#place.env.HOME },
    })
  }
}
