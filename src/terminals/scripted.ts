import type { Exit, Terminal, TerminalHost } from '../core/screen/terminal.ts'
import type { Clock } from '../base/clock.ts'
import { Channel } from '../base/channel.ts'
import { realClock } from '../base/clock.ts'
import { keyBytes, pasteBytes } from './keys.ts'
import { Paper } from './paper.ts'

/** What a scripted program has in its hands. */
export type Tty = {
  cwd: string
  env: Readonly<Record<string, string>>
  print(text: string): void
  /** Wipes the screen, as a full-screen program does before it draws. */
  clear(): void
  /** The next thing that was written, pasted or pressed; undefined once the terminal is closed. */
  read(): Promise<string | undefined>
  /** How many processes it says run below its own. */
  children: number
  signal: AbortSignal
}

/** Resolves with the code it exits with. */
export type Program = (tty: Tty) => Promise<number>

/** A person's hands reach a scripted terminal too. */
export type ScriptedTerminal = Terminal & { touch(at: number): void }

export interface ScriptedHost extends TerminalHost {
  find(id: string): Promise<ScriptedTerminal | undefined>
}

/** Terminals without a process behind them: each command is a function that draws on a screen in memory. */
export function scriptedTerminals(program: (command: string) => Program, clock: Clock = realClock): ScriptedHost {
  const living = new Map<string, ScriptedTerminal>()
  return {
    outlives: false,
    async open(command, { cwd, env = {}, id = crypto.randomUUID(), title, size }) {
      const paper = new Paper(size)
      if (title !== undefined) paper.retitle(title)
      const terminal = start(id, program(command), { cwd, env, paper, clock }, () => living.delete(id))
      living.set(id, terminal)
      return terminal
    },
    find: async (id) => living.get(id),
    close: async () => void (await Promise.all([...living.values()].map((terminal) => terminal.close()))),
  }
}

function start(
  id: string,
  program: Program,
  { paper, clock, ...place }: { cwd: string; env: Record<string, string>; paper: Paper; clock: Clock },
  gone: () => void,
): ScriptedTerminal {
  const input = new Channel<string>()
  const keys = input[Symbol.asyncIterator]()
  const closed = new AbortController()
  let touched = 0
  const tty: Tty = {
    ...place,
    print: (text) => paper.print(text),
    clear: () => paper.clear(),
    read: async () => (await keys.next()).value,
    children: 0,
    signal: closed.signal,
  }
  const ended = new Promise<Exit>((resolve) =>
    closed.signal.addEventListener('abort', () => resolve({ signal: 1 }), { once: true }),
  )
  // A program that breaks exits as a shell's would.
  const ran = program(tty).then(
    (code): Exit => ({ code }),
    (error): Exit => (paper.print(`${String(error)}\n`), { code: 1 }),
  )
  const exited = Promise.race([ran, ended]).finally(() => {
    input.close()
    paper.end()
  })
  return {
    id,
    async write(text, person = false) {
      if (person) touched = clock.now()
      await input.push(text)
    },
    paste: (text) => input.push(pasteBytes(text)),
    press: (key) => input.push(keyBytes(key)),
    resize: async (cols, rows) => paper.resize(cols, rows),
    screen: async () => paper.screen(),
    paint: async () => paper.paint(),
    history: async (rows) => paper.history(rows),
    retitle: async (title) => paper.retitle(title),
    children: async () => tty.children,
    output: (after = 0) => paper.follow(after),
    touched: async () => touched,
    touch: (at) => void (touched = at),
    exited,
    async close() {
      closed.abort()
      gone()
      await exited
    },
  }
}
