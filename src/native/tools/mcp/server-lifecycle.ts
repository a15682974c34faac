import type { Tool as RemoteTool } from '@modelcontextprotocol/client'
import type { Clock } from '../../../base/time/clock.ts'
import type { Connection } from './mcp-connection.ts'
import type { Fault } from './server-faults.ts'
import { untilAborted } from '../../../base/time/clock.ts'
import { loginWanted } from './server-faults.ts'

export type ServerState =
  | { is: 'starting'; since: number }
  | { is: 'ready'; since: number; connection: Connection }
  /** A restart follows automatically at `next`. */
  | { is: 'waiting'; why: string; next: number }
  | { is: 'login'; why: string }
  | { is: 'failed'; why: string }
  | { is: 'closed' }

/** The parts that a life cycle needs; `open` rejects if the server cannot be reached. */
type LifecycleParts = {
  clock: Clock
  open(signal: AbortSignal): Promise<{ connection: Connection; tools: RemoteTool[] }>
  /** Classifies an error that `open` threw. */
  judge(error: unknown): Fault
  /** Says why an open connection was lost. */
  lossReason(): string
  changed(): void
}

const firstWaitMs = 1_000
const longestWaitMs = 60_000

/** After this many failures in a row, a server is not restarted until a person asks for it. */
const mostTries = 6

/** A connection that lasted this long resets the count of failures. */
const steadyMs = 60_000

/** Keeps a server connected from its first start until `close`: a lost one is restarted after increasing waits. */
export class ServerLifecycle {
  state: ServerState
  tools: RemoteTool[] = []
  #means: LifecycleParts
  #closing = new AbortController()
  #nudge = new AbortController()
  #waiters = new Set<() => void>()
  #dropped = false
  #over: Promise<void>

  constructor(means: LifecycleParts) {
    this.#means = means
    this.state = { is: 'starting', since: means.clock.now() }
    this.#over = this.#live()
  }

  /** Waits until the server is no longer starting, or the signal aborts. */
  async settled(signal: AbortSignal): Promise<ServerState> {
    while (this.state.is === 'starting' && !signal.aborted) await this.#change(signal)
    return this.state
  }

  /** Restarts the server at once, unless it is connected or closed. */
  async again(signal: AbortSignal): Promise<ServerState> {
    if (this.state.is === 'ready' || this.state.is === 'closed') return this.state
    if (this.state.is !== 'starting') this.#enter({ is: 'starting', since: this.#means.clock.now() })
    this.#nudge.abort()
    return this.settled(signal)
  }

  /** Drops a connection that no longer answers although it was not closed. */
  drop(connection: Connection): void {
    if (this.state.is !== 'ready' || this.state.connection !== connection) return
    this.#dropped = true
    this.#enter({ is: 'starting', since: this.#means.clock.now() })
    // Closing never rejects, and the next connection does not wait for it.
    void connection.close()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#over
  }

  async #live(): Promise<void> {
    const { clock } = this.#means
    const closing = this.#closing.signal
    for (let failed = 0; !closing.aborted;) {
      this.#nudge = new AbortController()
      if (this.state.is !== 'starting') this.#enter({ is: 'starting', since: clock.now() })
      let fault: Fault
      try {
        const { connection, tools } = await this.#means.open(closing)
        fault = await this.#stand(connection, tools, closing, () => (failed = 0))
      } catch (error) {
        fault = this.#means.judge(error)
      }
      if (closing.aborted) break
      // The caller that dropped the connection waits for the next one, so it is opened at once.
      if (this.#dropped) {
        this.#dropped = false
        continue
      }
      failed++
      const { why } = fault
      if (fault.is === 'login') this.#enter({ is: 'login', why })
      else if (fault.is === 'final' || failed >= mostTries) this.#enter({ is: 'failed', why })
      else {
        const wait = Math.min(firstWaitMs * 2 ** (failed - 1), longestWaitMs)
        this.#enter({ is: 'waiting', why, next: clock.now() + wait })
        await clock.sleep(wait, AbortSignal.any([closing, this.#nudge.signal]))
        continue
      }
      await untilAborted(AbortSignal.any([closing, this.#nudge.signal]))
      failed = 0
    }
    this.tools = []
    this.#enter({ is: 'closed' })
  }

  async #stand(connection: Connection, tools: RemoteTool[], closing: AbortSignal, steady: () => void): Promise<Fault> {
    const { clock } = this.#means
    const began = clock.elapsed()
    this.tools = tools
    this.#enter({ is: 'ready', since: clock.now(), connection })
    await untilAborted(AbortSignal.any([connection.lost, closing]))
    if (clock.elapsed() - began >= steadyMs) steady()
    if (closing.aborted) await connection.close()
    return { is: 'passing', why: this.#means.lossReason() }
  }

  #enter(state: ServerState): void {
    this.state = state
    this.#means.changed()
    for (const wake of [...this.#waiters]) wake()
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiters.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#waiters.add(done)
      signal.addEventListener('abort', done, { once: true })
    })
  }
}

/** Tells the model why a server cannot be called now, and what to do instead. */
export function unavailableReason(name: string, state: ServerState, now: number): string {
  const who = `the MCP server ${name}`
  switch (state.is) {
    case 'starting':
    case 'ready':
      return `${who} is still starting. Go on without it, and call it again later.`
    case 'waiting':
      return `${who} is not running (${state.why}). It is restarted in ${seconds(state.next - now)} s: go on without it until then.`
    case 'login':
      return loginWanted(name)
    case 'failed':
      return `${who} cannot be used (${state.why}). Go on without it; /mcp shows the person more.`
    case 'closed':
      return `${who} was closed. Go on without it.`
  }
}

/** Tells a person why a server cannot be used now, and what to do. */
export function personReason(name: string, state: ServerState, now: number): string {
  const who = `the MCP server ${name}`
  switch (state.is) {
    case 'starting':
    case 'ready':
      return `${who} is still starting. Try again in a moment; /mcp shows its state`
    case 'waiting':
      return `${who} is not running (${state.why}). It is started again in ${seconds(state.next - now)} s; /mcp shows its output`
    case 'login':
      return `${who} requires a login. Type /mcp login ${name}`
    case 'failed':
      return `${who} does not run (${state.why}). /mcp shows its output, and /mcp refresh starts it again`
    case 'closed':
      return `${who} was closed. /mcp refresh starts it again`
  }
}

export const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000))
