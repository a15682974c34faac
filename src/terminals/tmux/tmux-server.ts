import type { Env } from '../../base/env.ts'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { unwatch, watch, watchGroup } from '../../base/process/watchdog.ts'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { quotedWord } from '../../base/text/shell-word.ts'

/** The tmux options that name a server's socket. */
export type ServerPlace = readonly ['-L' | '-S', string]

type ServerWays = { options?: readonly string[]; session?: string }

/** An error that tmux reported. */
export class TmuxError extends Error {
  override name = 'TmuxError'
}

/** Whether an error means that the server is not running, or has exited. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof TmuxError && /no server running|error connecting|server exited|lost server/.test(error.message)
  )
}

/** Whether an error means that a server was running and closed the connection. */
export function isEnding(error: Error): boolean {
  return /server exited|lost server/.test(error.message)
}

/** One tmux server, addressed by tmux commands. */
export class TmuxServer {
  readonly place: ServerPlace
  readonly program: string
  #options: readonly string[]
  #env: Record<string, string>
  #session: string | undefined
  #client: ControlClient | undefined
  #closed = false

  /** `options` are used if the server has yet to be started; `session` is ours, and lets a control client stay attached. */
  constructor(program: string, place: ServerPlace, env: Env, { options = [], session }: ServerWays = {}) {
    this.program = program
    this.place = place
    this.#options = options
    this.#session = session
    this.#env = serverEnv(env)
  }

  /** Runs commands like `run`, through the attached control client if there is one: for frequent commands. */
  async ask(commands: readonly (readonly string[])[]): Promise<string> {
    const answer = await this.#control()?.ask(commands)
    if (answer === undefined) return this.run(commands)
    if ('error' in answer) throw new TmuxError(`tmux: ${answer.error}`)
    return answer.text
  }

  /** Detaches from the server without stopping it. */
  close(): void {
    this.#closed = true
    this.#client?.close()
  }

  /** Runs commands one after another until one fails; returns their output. */
  async run(commands: readonly (readonly string[])[], input?: string): Promise<string> {
    const words = commands.flatMap((command, index) => [
      ...(index > 0 ? [';'] : []),
      ...command.map(withEscapedSemicolon),
    ])
    const child = spawn(this.program, ['-u', ...this.#options, ...this.place, ...words], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: this.#env,
      cwd: '/',
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    return new Promise((resolve, reject) => {
      child.once('error', (error) => reject(new TmuxError(`tmux could not be run: ${error.message}`)))
      child.once('close', (code) => {
        if (code === 0) resolve(Buffer.concat(out).toString())
        else reject(new TmuxError(`tmux: ${Buffer.concat(err).toString().trim() || `it ended with code ${code}`}`))
      })
    })
  }

  /** Distinguishes the socket of our own server from a later one at the same path; undefined if it does not exist. */
  get socket(): string | undefined {
    const file = this.#session === undefined ? undefined : statSync(this.#socketPath, { throwIfNoEntry: false })
    return file && `${file.ino} ${file.ctimeMs}`
  }

  get #socketPath(): string {
    return join(this.#env.TMUX_TMPDIR ?? '/tmp', `tmux-${process.getuid!()}`, this.place[1])
  }

  /**
   * Removes the socket of our own server if that server is shutting down: its sessions are closed and it accepts no client, but it stays
   * as long as one of its old clients does, for example one that hangs since its termaite was killed. The next command starts a new
   * server. If the socket has changed by now, it belongs to a server that another process has started, and stays.
   */
  leave(ending: string): void {
    if (this.socket !== ending) return
    rmSync(this.#socketPath, { force: true })
    this.#client?.close()
  }

  #control(): ControlClient | undefined {
    if (this.#session === undefined || this.#closed) return undefined
    if (!this.#client?.open) this.#client = new ControlClient(this.program, this.place, this.#env, this.#session)
    return this.#client
  }
}

/** Escapes a final semicolon, which would end the tmux command. */
export const withEscapedSemicolon = (word: string) => word.replace(/;$/, '\\;')

/** A server keeps the environment of its first client forever, so it only gets what it needs: no secrets and none of our marks. */
function serverEnv(env: Env): Record<string, string> {
  const needed = [
    'PATH',
    'HOME',
    'USER',
    'LOGNAME',
    'SHELL',
    'LANG',
    'LC_ALL',
    'LC_CTYPE',
    'TMUX_TMPDIR',
    'TMPDIR',
    'TERM',
  ]
  return Object.fromEntries(needed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

/** Escapes a text for tmux, which would run `#(…)` and format `#[…]`. */
export function plain(text: string): string {
  return text
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .replaceAll(/#+(?=[[({])/g, '')
    .replaceAll('#', '##')
}

/** Escapes a shell command that tmux itself runs, in which tmux also expands dates. */
export function plainCommand(text: string): string {
  return text.replaceAll('#', '##').replaceAll('%', '%%')
}

/** One request. Requests are answered in order, with a block of lines for each command; a failed command ends its request. */
type Ask = { blocks: number; lines: string[]; done(answer: { text: string } | { error: string } | undefined): void }

/**
 * A client that stays attached, for servers that are queried many times a second: a process for each request would cost ten times as
 * much. It shows nothing and has no size. Only our own server gets one, because a person's list of clients belongs to them.
 */
class ControlClient {
  #child: ChildProcessByStdio<Writable, Readable, null>
  #asks: Ask[] = []
  #block: { guard: string; lines: string[] } | undefined
  #open = true

  constructor(program: string, place: readonly string[], env: Record<string, string>, session: string) {
    // If a server is stopped right after this process was killed, it waits forever for its control clients (tmux 3.3), and accepts no
    // session meanwhile: the watchdog kills the client together with this process.
    const mark = `control-${randomUUID()}`
    watch(mark, env.PATH)
    const attach = ['attach-session', '-f', 'no-output,ignore-size', '-t', `=${session}`]
    this.#child = spawn(program, ['-u', ...place, '-C', ...attach], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env,
      cwd: '/',
      detached: true,
    })
    if (this.#child.pid !== undefined) watchGroup(mark, this.#child.pid)
    let rest = ''
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#take(line)
    })
    this.#child.stdin.on('error', () => {})
    const over = () => {
      unwatch(mark)
      this.close()
    }
    this.#child.on('error', over).on('close', over)
    this.#hold(false)
  }

  get open(): boolean {
    return this.#open
  }

  /** Returns the output of the commands, or the error; undefined if the client has exited. */
  ask(commands: readonly (readonly string[])[]): Promise<{ text: string } | { error: string } | undefined> {
    if (!this.#open) return Promise.resolve(undefined)
    return new Promise((done) => {
      this.#asks.push({ blocks: commands.length, lines: [], done })
      this.#hold(true)
      this.#child.stdin.write(`${commands.map((words) => words.map(quotedWord).join(' ')).join(' ; ')}\n`)
    })
  }

  close(): void {
    this.#open = false
    this.#child.stdin.destroy()
    for (const { done } of this.#asks.splice(0)) done(undefined)
  }

  #take(line: string): void {
    const [, sign, guard = ''] = /^%(begin|end|error) (\d+ \d+ \d+)$/.exec(line) ?? []
    if (!this.#block) {
      // Blocks whose guard ends in 0 answer no request: they come from the start and from hooks.
      if (sign === 'begin' && guard.endsWith(' 1')) this.#block = { guard, lines: [] }
    } else if (sign && sign !== 'begin' && guard === this.#block.guard) this.#finish(this.#block.lines, sign === 'end')
    else this.#block.lines.push(line)
  }

  #finish(lines: string[], ok: boolean): void {
    this.#block = undefined
    const ask = this.#asks[0]
    if (!ask) return
    ask.lines.push(...lines)
    if (ok && --ask.blocks > 0) return
    this.#asks.shift()
    ask.done(ok ? { text: ask.lines.map((line) => `${line}\n`).join('') } : { error: lines.join('\n') })
    this.#hold(this.#asks.length > 0)
  }

  /** The client keeps this process alive only while a request waits for its answer. */
  #hold(held: boolean): void {
    const handles = [this.#child, this.#child.stdin as unknown as Socket, this.#child.stdout as unknown as Socket]
    for (const handle of handles) handle[held ? 'ref' : 'unref']()
  }
}
