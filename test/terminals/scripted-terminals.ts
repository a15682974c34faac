import type { Clock } from '../../src/base/time/clock.ts'
import type { Exit, Picture, Screen, Terminal, TerminalHost } from '../../src/core/screen/terminal.ts'
import { Channel } from '../../src/base/channel.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { defined } from '../../src/base/defined.ts'
import { keyBytes, pasteBytes } from '../../src/terminals/program/terminal-keys.ts'
import { needPlainId } from '../../src/terminals/program/terminal-program.ts'

/** The terminal as a scripted program uses it. */
export type Tty = {
  cwd: string
  env: Readonly<Record<string, string>>
  print(text: string): void
  /** Wipes the screen, as a full-screen program does before it draws. */
  clear(): void
  /** The next thing that was written, pasted or pressed; undefined once the terminal is closed. */
  read(): Promise<string | undefined>
  /** How many child processes the terminal reports. */
  children: number
  signal: AbortSignal
}

/** Resolves with its exit code. */
export type Program = (tty: Tty) => Promise<number>

/** A terminal in which a test can press a person's keys with `touch`. */
export type ScriptedTerminal = Terminal & { touch(at: number): void }

export interface ScriptedHost extends TerminalHost {
  find(id: string): Promise<ScriptedTerminal | undefined>
}

/** Terminals without processes: each command is a function that draws on a screen in memory. */
export function scriptedTerminals(program: (command: string) => Program, clock: Clock = realClock): ScriptedHost {
  const living = new Map<string, ScriptedTerminal>()
  return {
    outlives: false,
    async open(command, { cwd, env = {}, id = crypto.randomUUID(), title, size }) {
      needPlainId(id)
      const screen = new ScriptedScreen(size)
      if (title !== undefined) screen.retitle(title)
      const terminal = start(id, program(command), { cwd, env, screen, clock }, () => living.delete(id))
      living.set(id, terminal)
      return terminal
    },
    find: async (id) => living.get(id),
    async close() {
      await Promise.all([...living.values()].map((terminal) => terminal.close()))
    },
  }
}

function start(
  id: string,
  program: Program,
  { screen, clock, ...place }: { cwd: string; env: Record<string, string>; screen: ScriptedScreen; clock: Clock },
  gone: () => void,
): ScriptedTerminal {
  const input = new Channel<string>()
  const keys = input[Symbol.asyncIterator]()
  const closed = new AbortController()
  let touched = 0
  let lastMark: string | undefined
  const tty: Tty = {
    ...place,
    print: (text) => screen.print(text),
    clear: () => screen.clear(),
    read: async () => (await keys.next()).value,
    children: 0,
    signal: closed.signal,
  }
  const ended = new Promise<Exit>((resolve) =>
    closed.signal.addEventListener('abort', () => resolve({ signal: 1 }), { once: true }),
  )
  // A program that throws exits with code 1, as in a shell.
  const ran = program(tty).then(
    (code): Exit => ({ code }),
    (error): Exit => (screen.print(`${String(error)}\n`), { code: 1 }),
  )
  const exited = Promise.race([ran, ended]).finally(() => {
    input.close()
    screen.end()
  })
  return {
    id,
    async write(text, person = false) {
      if (person) touched = clock.now()
      await input.push(text)
    },
    async paste(text, person = false, mark) {
      if (person) touched = clock.now()
      await input.push(pasteBytes(text))
      lastMark = mark ?? lastMark
    },
    lastMark: async () => lastMark,
    press: (key) => input.push(keyBytes(key)),
    resize: async (cols, rows) => screen.resize(cols, rows),
    screen: async () => screen.screen(),
    paint: async (above) => screen.paint(above),
    history: async (rows) => screen.history(rows),
    retitle: async (title) => screen.retitle(title),
    children: async () => tty.children,
    output: (after = 0) => screen.follow(after),
    touched: async () => touched,
    touch(at) {
      touched = at
    },
    exited,
    async close() {
      closed.abort()
      gone()
      await exited
    },
  }
}

/** A screen in memory and the bytes that drew it. */
class ScriptedScreen {
  #cols = 80
  #height = 24
  #lines = ['']
  #bytes: Uint8Array[] = []
  #ended = false
  #title: string | undefined
  #waiting: (() => void)[] = []

  constructor(size = { cols: 80, rows: 24 }) {
    this.resize(size.cols, size.rows)
  }

  print(text: string): void {
    const [first, ...rest] = text.replaceAll('\r', '').split('\n')
    this.#lines.push(this.#lines.pop()! + first, ...rest)
    this.#keep(text)
  }

  clear(): void {
    this.#lines = ['']
    this.#keep('\u001b[2J\u001b[H')
  }

  resize(cols: number, rows: number): void {
    this.#cols = cols
    this.#height = rows
  }

  retitle(title: string): void {
    this.#title = title
  }

  history(rows: number): string[] {
    return this.#folded().slice(-rows)
  }

  #folded(): string[] {
    return this.#lines.flatMap((line) => folded(line, this.#cols))
  }

  screen(): Screen {
    const all = this.#folded()
    const shown = all.slice(-this.#height)
    const rows = [...shown, ...Array<string>(this.#height - shown.length).fill('')]
    return defined({
      rows,
      cols: this.#cols,
      cursor: { row: shown.length - 1, col: shown.at(-1)!.length },
      title: this.#title,
    })
  }

  paint(above = 0): Picture {
    const { rows, cols, cursor } = this.screen()
    const at = this.#bytes.reduce((sum, { length }) => sum + length, 0)
    const gone = this.#folded().slice(0, -this.#height)
    const drawn = [...gone.slice(Math.max(0, gone.length - above)), ...rows].join('\r\n')
    const text = `\u001b[2J\u001b[H${drawn}\u001b[${cursor.row + 1};${cursor.col + 1}H`
    return { at, text, cols, rows: rows.length }
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** Yields the bytes from a position on, as they are drawn, until the program has ended. */
  async *follow(after: number): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    let at = 0
    for (let i = 0; ;) {
      const bytes = this.#bytes[i]
      if (bytes) {
        if (at + bytes.length > after) yield { at: Math.max(at, after), bytes: bytes.subarray(Math.max(0, after - at)) }
        at += bytes.length
        i++
      } else if (this.#ended) return
      else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #keep(text: string) {
    this.#bytes.push(new TextEncoder().encode(text))
    this.#wake()
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

function folded(line: string, cols: number): string[] {
  return line === '' ? [''] : (line.match(new RegExp(`.{1,${cols}}`, 'gu')) ?? [])
}
