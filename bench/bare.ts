import type { ChildProcess } from 'node:child_process'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import pty from '@lydell/node-pty'
import { randomName } from '../src/base/id.ts'
import { quotedWord } from '../src/base/text/shell-word.ts'

type Env = Record<string, string>

/** A program in a terminal with nothing of ours around it. */
export interface Bare {
  type(text: string): Promise<void>
  /** Resolves in the moment in which the terminal's output holds it. */
  seen(what: RegExp): Promise<RegExpExecArray>
  close(): Promise<void>
}

/** The output of a program, with the patterns that somebody waits for in it. */
class Watched {
  #text = ''
  #waits: { what: RegExp; found(match: RegExpExecArray): void }[] = []

  push(text: string): void {
    this.#text = (this.#text + text).slice(-100_000)
    this.#waits = this.#waits.filter(({ what, found }) => {
      const match = what.exec(this.#text)
      if (match) found(match)
      return !match
    })
  }

  seen(what: RegExp): Promise<RegExpExecArray> {
    const match = what.exec(this.#text)
    return match ? Promise.resolve(match) : new Promise((found) => this.#waits.push({ what, found }))
  }
}

export function barePty(argv: readonly string[], cwd: string, env: Env): Bare {
  const child = pty.spawn(argv[0]!, argv.slice(1), { name: 'xterm-256color', cols: 120, rows: 40, cwd, env })
  const watched = new Watched()
  child.onData((text) => watched.push(text))
  const gone = new Promise<void>((resolve) => child.onExit(() => resolve()))
  return {
    type: async (text) => child.write(text),
    seen: (what) => watched.seen(what),
    async close() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** A tmux server of its own, as one would use it from a script; a client in control mode tells at once what panes draw. */
export class BareTmux {
  readonly socket = `termaite-bare-${randomName()}`
  #env: Env
  #panes = new Map<string, Watched>()
  #client: ChildProcess

  /** The socket of the server lies in `env.TMUX_TMPDIR`. */
  constructor(env: Env, cwd: string) {
    this.#env = env
    const session = ['new-session', '-s', 'bare', '-x', '120', '-y', '40', 'cat']
    this.#client = spawn('tmux', ['-L', this.socket, '-f', '/dev/null', '-C', ...session], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let rest = ''
    this.#client.stdout!.setEncoding('latin1').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const [, pane, drawn] = /^%output (%\d+) (.*)$/.exec(line) ?? []
        if (pane) this.#pane(pane).push(unescaped(drawn!))
      }
    })
  }

  async begun(): Promise<void> {
    // The command succeeds as soon as there is a server.
    while ((await this.run('has-session').catch(() => undefined)) === undefined);
  }

  async run(...words: string[]): Promise<string> {
    return (await promisify(execFile)('tmux', ['-L', this.socket, ...words], { env: this.#env })).stdout.trim()
  }

  async open(argv: readonly string[]): Promise<Bare> {
    const pane = await this.run('new-window', '-d', '-P', '-F', '#{pane_id}', argv.map(quotedWord).join(' '))
    return {
      type: async (text) => void (await this.run('send-keys', '-l', '-t', pane, text)),
      seen: (what) => this.#pane(pane).seen(what),
      close: async () => void (await this.run('kill-pane', '-t', pane)),
    }
  }

  /** Turns off the output of all panes from here on, because it would be measured as well. */
  async quiet(): Promise<void> {
    await this.run('refresh-client', '-t', await this.run('list-clients', '-F', '#{client_name}'), '-f', 'no-output')
  }

  /** The server's own process. */
  async pid(): Promise<number> {
    return Number(await this.run('display-message', '-p', '#{pid}'))
  }

  close(): void {
    spawnSync('tmux', ['-L', this.socket, 'kill-server'], { env: this.#env })
    this.#client.kill()
  }

  #pane(pane: string): Watched {
    const known = this.#panes.get(pane) ?? new Watched()
    this.#panes.set(pane, known)
    return known
  }
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)))
}
