import type { Machine } from '../cli/program.ts'
import type { IPty } from '@lydell/node-pty'
import type { Terminal as Emulator } from '@xterm/headless'
import headless from '@xterm/headless'
import pty from '@lydell/node-pty'
import { join } from 'node:path'
import { codeCache, start } from '../cli/program.ts'
import type { Frame } from './frame.ts'
import { frameOf, rowsOf } from './frame.ts'
import { noonZone } from '../noon.ts'

export type Size = { cols: number; rows: number }

export type WindowOptions = {
  size?: Size
  args?: readonly string[]
  env?: Record<string, string>
  background?: string
  /** Starts this instead, from which the program can be started by hand. */
  shell?: readonly [string, ...string[]]
}

/** The time after which a wait counts as endless: then the screen is shown instead. */
const patienceMs = 30_000

/** Keys as a terminal sends them. */
export const keys = {
  enter: '\r',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  pageUp: '\u001b[5~',
  pageDown: '\u001b[6~',
  shiftTab: '\u001b[Z',
  tab: '\t',
  ctrlB: '\u0002',
  ctrlC: '\u0003',
  ctrlD: '\u0004',
  ctrlEnd: '\u001b[1;5F',
  ctrlF: '\u0006',
  ctrlG: '\u0007',
  ctrlJ: '\n',
  ctrlK: '\u000b',
  ctrlO: '\u000f',
  ctrlU: '\u0015',
  ctrlV: '\u0016',
  f1: '\u001bOP',
} as const

/** The built program in a real PTY, seen through a terminal emulator. */
export class ProgramWindow {
  readonly emulator: Emulator
  readonly pty: IPty
  readonly exited: Promise<{ exitCode: number; signal?: number }>
  /** Everything that the program wrote, to find sequences that must never reach a terminal. */
  raw = ''
  #looks = new Set<() => void>()
  #painting = false

  constructor(machine: Machine, options: WindowOptions = {}) {
    const { cols, rows } = options.size ?? { cols: 80, rows: 24 }
    this.emulator = new headless.Terminal({ cols, rows, allowProposedApi: true, scrollback: 1000 })
    const [file, ...args] = options.shell ?? [...start, ...(options.args ?? [])]
    this.pty = pty.spawn(file, args, {
      // The name becomes TERM, whatever the environment says.
      name: options.env?.TERM ?? 'xterm-256color',
      cols,
      rows,
      cwd: machine.project,
      env: {
        PATH: process.env.PATH,
        HOME: join(machine.folder, 'home'),
        TERMAITE_HOME: machine.home,
        LANG: 'C.UTF-8',
        TZ: noonZone,
        EDITOR: 'true',
        TERMAITE_KEYCHAIN: 'off',
        NODE_COMPILE_CACHE: codeCache,
        ...options.env,
      },
    })
    // A terminal answers what it is asked: its background, its attributes, where the cursor is.
    this.emulator.onData((answer) => this.pty.write(answer))
    const background = options.background ?? '1e1e/1e1e/1e1e'
    this.emulator.parser.registerOscHandler(11, (data) => {
      if (data === '?') this.pty.write(`\u001b]11;rgb:${background}\u001b\\`)
      return true
    })
    // A frame that is painted in one go is looked at once it is whole.
    const painting = (on: boolean) => (params: (number | number[])[]) => {
      if (params[0] === 2026) this.#painting = on
      return false
    }
    this.emulator.parser.registerCsiHandler({ prefix: '?', final: 'h' }, painting(true))
    this.emulator.parser.registerCsiHandler({ prefix: '?', final: 'l' }, painting(false))
    this.pty.onData((data) => {
      this.raw += data
      this.emulator.write(data, () => this.#looks.forEach((look) => look()))
    })
    this.exited = new Promise((resolve) => this.pty.onExit((exit) => this.emulator.write('', () => resolve(exit))))
  }

  type(text: string): void {
    this.pty.write(text)
  }

  /** Resolves once the screen is painted in its new size. */
  async resize({ cols, rows }: Size): Promise<void> {
    this.emulator.resize(cols, rows)
    this.pty.resize(cols, rows)
    await this.shows(() => this.rows().some(({ length }) => length === cols) && this.rows()[rows - 1] !== '')
  }

  rows(): string[] {
    return rowsOf(this.emulator)
  }

  text(): string {
    return this.rows().join('\n')
  }

  /** The whole normal buffer, with the rows that were scrolled out of sight. */
  scrollback(): string {
    const { normal } = this.emulator.buffer
    return Array.from({ length: normal.length }, (_, row) => normal.getLine(row)?.translateToString(true) ?? '')
      .join('\n')
      .trimEnd()
  }

  /** Resolves once the screen shows it; a program that ends before that is an error that shows its last screen. */
  async shows(what: string | RegExp | ((screen: string) => boolean)): Promise<string> {
    const there = (screen: string) =>
      typeof what === 'string' ? screen.includes(what) : what instanceof RegExp ? what.test(screen) : what(screen)
    let look = () => {}
    const seen = new Promise<string>((resolve) => {
      look = () => {
        const screen = this.text()
        if (!this.#painting && there(screen)) resolve(screen)
      }
      this.#looks.add(look)
      look()
    })
    const gone = this.exited.then((exit) => {
      throw new Error(`it ended (${JSON.stringify(exit)}) before it showed ${what}:\n${this.scrollback()}`)
    })
    let late: NodeJS.Timeout | undefined
    const never = new Promise<string>((_resolve, reject) => {
      const words = () => new Error(`it never showed ${what}:\n${this.text()}`)
      late = setTimeout(() => reject(words()), patienceMs)
    })
    try {
      return await Promise.race([seen, gone, never])
    } finally {
      clearTimeout(late)
      gone.catch(() => {})
      this.#looks.delete(look)
    }
  }

  /** The screen with its colours. */
  frame(): Frame {
    return frameOf(this.emulator)
  }

  /** Closes the terminal itself, as a window that is closed. */
  close(): void {
    ;(this.pty as IPty & { destroy(): void }).destroy()
  }

  /** Kills the program without waiting for others that still hold the terminal. */
  end(): void {
    this.pty.kill('SIGKILL')
    this.close()
  }
}
