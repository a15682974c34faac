import type { Clock } from '../../base/time/clock.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { TurnAtWork, Peer } from '../../core/turns/peer.ts'
import type { AskOptions } from '../frames/asking.ts'
import type { CallName, GivenBy, ParamsOf, StreamName } from '../frames/methods.ts'
import { connect } from 'node:net'
import { WireAsking } from '../frames/asking.ts'
import { Connection } from '../frames/connection.ts'
import { objectIn, olderSide, versionIn, WireFailure } from '../frames/frames.ts'
import { RemoteTerminal } from '../frames/remote-terminal.ts'
import { unixCarrier } from '../frames/unix-carrier.ts'

/** How long to wait for a process that may be stopped, or too busy to answer. */
const patienceMs = 2_000

export type ConnectedPeer = Peer & { readonly pid: number }

/** Connects to the process behind a socket; undefined when none answers in our version. */
export async function connectPeer(path: string, clock: Clock): Promise<ConnectedPeer | undefined> {
  const connection = new Connection(unixCarrier(connect(path)), clock)
  const hello = objectIn(await connection.first(patienceMs)) ?? {}
  const version = versionIn(hello)
  if (hello.type === 'hello' && version && !olderSide(version))
    return new PeerOverWire(Number(hello.pid), connection, new WireAsking(connection, clock))
  connection.cut('no process of our version answers')
  return undefined
}

class PeerOverWire implements ConnectedPeer {
  readonly pid: number
  #connection: Connection
  #asking: WireAsking

  constructor(pid: number, connection: Connection, asking: WireAsking) {
    this.pid = pid
    this.#connection = connection
    this.#asking = asking
  }

  async turns(): Promise<TurnAtWork[]> {
    return (await this.#soon('turns.list', {})) ?? []
  }

  follow(turn: string, signal: AbortSignal, how?: 'onlyReading'): AsyncGenerator<Event> {
    return this.#stream('turn.events', { turn, how }, signal)
  }

  async answer(turn: string, ask: string, picks?: string[]): Promise<boolean> {
    return (await this.#soon('turn.answer', { turn, ask, picks })) === true
  }

  async steer(turn: string, text: string): Promise<boolean> {
    return (await this.#soon('turn.steer', { turn, text })) === true
  }

  async cancel(turn: string): Promise<boolean> {
    return (await this.#soon('turn.cancel', { turn })) === true
  }

  async terminal(id: string): Promise<Terminal | undefined> {
    const found = await this.#soon('terminal.open', { id })
    return found && new RemoteTerminal(this.#line, id, found.attach)
  }

  async close(): Promise<void> {
    this.#connection.cut('this process no longer needs the connection')
  }

  #line = {
    // If the process of a terminal is gone, nobody knows how its program exited.
    lost: {},
    call: <N extends CallName>(method: N, params: ParamsOf<N>): Promise<GivenBy<N>> =>
      this.#call(method, params).catch((error: unknown) => {
        // A terminal that cannot be closed is already closed.
        if (method === 'terminal.close') return true as GivenBy<N>
        throw error instanceof WireFailure && error.kind === 'away'
          ? new Error('the process of this terminal is gone')
          : error
      }),
    stream: <N extends StreamName>(method: N, params: ParamsOf<N>) => this.#stream(method, params),
  }

  /** Waits a short time for an answer; undefined on a timeout or an error. */
  #soon<N extends CallName>(method: N, params: ParamsOf<N>): Promise<GivenBy<N> | undefined> {
    return this.#call(method, params, { withinMs: patienceMs }).catch(() => undefined)
  }

  /** A process of the same person is trusted: its answers are not checked against the table. */
  #call<N extends CallName>(method: N, params: ParamsOf<N>, options?: AskOptions): Promise<GivenBy<N>> {
    return this.#asking.call(method, params, options) as Promise<GivenBy<N>>
  }

  /** The stream ends if the process refuses it or goes away. */
  async *#stream<N extends StreamName>(
    method: N,
    params: ParamsOf<N>,
    signal?: AbortSignal,
  ): AsyncGenerator<GivenBy<N>> {
    try {
      yield* this.#asking.stream(method, params, signal && { signal }) as AsyncIterable<GivenBy<N>>
    } catch (error) {
      if (!(error instanceof WireFailure)) throw error
    }
  }
}
