import type { Env } from '../../../base/env.ts'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../../../base/time/clock.ts'
import type { Run } from '../../../base/process/run.ts'
import type { StdioConfig } from './server-config.ts'
import { exitsWithin, start } from '../../../base/process/run.ts'
import { Lines } from '../../../base/text/lines.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'

/** How long a server may take to exit after its input was closed; then it is killed. */
const leaveMs = 500

/** The environment variables that every server inherits. Keys are not among them: a server only gets those in its configuration. */
const inherited =
  /^(HOME|LOGNAME|PATH|SHELL|TERM|USER|LANG|LC_\w+|TZ|TMPDIR|TERMAITE_RUN|XDG_\w+|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i

/** Puts a server's program behind a wall; `settle` is called after the program's end. */
export type Enclose = (
  config: StdioConfig,
  argv: readonly [string, ...string[]],
  env: Env,
) => Promise<{ argv: readonly [string, ...string[]]; env: Env; settle(): Promise<unknown> }>

/**
 * Runs a server as a child process in its own session, which also ends when termaite is killed. It is not a subclass of the SDK's
 * transport, which makes the SDK start a second process to ask for the version.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  #config: StdioConfig
  #env: Env
  #clock: Clock
  #errors: ServerOutput
  #run: Run | undefined
  #closed = false

  #enclose: Enclose | undefined

  constructor(config: StdioConfig, env: Env, clock: Clock, errors: ServerOutput, enclose?: Enclose) {
    this.#config = config
    this.#env = env
    this.#clock = clock
    this.#errors = errors
    this.#enclose = enclose
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#config
    const own = Object.fromEntries(Object.entries(this.#env).filter(([name]) => inherited.test(name)))
    const how = await this.#enclose?.(this.#config, [command, ...args], own)
    const argv = how?.argv ?? ([command, ...args] as const)
    const run = await start({ argv, cwd, env: { ...(how?.env ?? own), ...env }, clock: this.#clock }).catch(
      async (error) => {
        await how?.settle()
        throw error
      },
    )
    this.#run = run
    this.#errors.end = ''
    const read = [this.#read(run), this.#listen(run)]
    // Reading a run's outputs never throws, and the SDK reports a bad message to itself.
    void run.exited.then(async (exit) => {
      await Promise.all(read)
      await how?.settle()
      if (!this.#closed) this.#errors.end = `it ended with ${exit.code ?? exit.signal}`
      this.onclose?.()
    })
    // The transport was closed during the start, so the new process is stopped at once.
    if (this.#closed) await run.end()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#run?.stdin
    if (!stdin?.writable) throw new Error('the server is not running')
    // If the server stopped reading, the caller's time limit ends the wait, not this write.
    stdin.write(`${JSON.stringify(message)}\n`)
  }

  /** Closes the server as the protocol requires: closes its input, lets it exit, and then kills it with its children. */
  async close(): Promise<void> {
    this.#closed = true
    const run = this.#run
    if (!run) return
    run.stdin.end()
    if (!(await exitsWithin(run, leaveMs, this.#clock))) await run.end()
    await run.exited
  }

  async #read(run: Run): Promise<void> {
    const decoder = new TextDecoder()
    const lines = new Lines()
    for await (const chunk of run.stdout)
      for (const line of lines.push(decoder.decode(chunk, { stream: true }))) this.#take(line)
    for (const line of lines.end()) this.#take(line)
  }

  #take(line: string): void {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      // Some servers print banners to standard output: these lines are kept with the error output, and do not count as a failure.
      this.#errors.push(`${line}\n`)
      return
    }
    this.onmessage?.(message as never)
  }

  async #listen(run: Run): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of run.stderr) this.#errors.push(decoder.decode(chunk, { stream: true }))
  }
}

/** The last part of a server's standard error, with a limit on memory. */
export class ServerOutput {
  #text = ''
  #limit: number
  /** How the server's process ended, if it exited by itself. */
  end = ''

  constructor(limit = 8_000) {
    this.#limit = limit
  }

  push(text: string): void {
    this.#text = (this.#text + text).slice(-this.#limit)
  }

  get text(): string {
    return stripAnsi(this.#text).trim()
  }

  /** The last line and the way the process ended, as a reason. */
  get last(): string {
    const line = this.text.split('\n').at(-1)!.slice(0, 300)
    return [line, this.end].filter(Boolean).join('; ')
  }
}
