import type { AddressInfo, Server, Socket } from 'node:net'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { chance } from './chance.ts'

/** How often each fault happens, as a part of 1. */
export type Unreliability = {
  /** A new connection is closed at once. */
  refused: number
  /** A piece of a connection is held back for up to `delayMs`. */
  delayed: number
  delayMs: number
  /** Whether a piece that is held back arrives though its sender has hung up meanwhile. */
  late: boolean
  /** A connection is cut in the middle, at any piece. */
  cut: number
  /** A connection passes nothing on any more, and is closed after `silentMs`, as when an address has changed. */
  silenced: number
  silentMs: number
}

/** The numbers of connections by what the proxy did to them. */
export type ProxyCounts = { connections: number; refused: number; delayed: number; cut: number; silenced: number }

/** A proxy in front of any number of hubs, which spreads connections over those that answer, and which is a bad network. */
export class UnreliableProxy {
  readonly counts: ProxyCounts = { connections: 0, refused: 0, delayed: 0, cut: 0, silenced: 0 }
  #ports: readonly number[]
  #how: Unreliability
  #lot: () => number
  #server: Server
  #sockets = new Set<Socket>()
  #next = 0

  private constructor(ports: readonly number[], how: Unreliability, seed: number) {
    this.#ports = ports
    this.#how = how
    this.#lot = chance(seed)
    this.#server = createServer({ noDelay: true }, (client) => this.#serve(client))
  }

  static async start(ports: readonly number[], how: Unreliability, seed: number): Promise<UnreliableProxy> {
    const proxy = new UnreliableProxy(ports, how, seed)
    proxy.#server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 })
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    if (this.#server.listening) await once(this.#server, 'close')
  }

  async #serve(client: Socket): Promise<void> {
    this.#own(client)
    this.counts.connections++
    if (this.#happens('refused')) return void client.destroy()
    const hub = await this.#reach()
    if (!hub || client.destroyed) {
      hub?.destroy()
      return void client.destroy()
    }
    this.#join(client, hub)
  }

  /** A connection to the next hub that answers, as a proxy tries the next address when one refuses. */
  async #reach(): Promise<Socket | undefined> {
    for (const _ of this.#ports) {
      const port = this.#ports[this.#next++ % this.#ports.length]!
      const hub = connect({ port, host: '127.0.0.1', noDelay: true })
      this.#own(hub)
      if (
        await once(hub, 'connect').then(
          () => true,
          () => false,
        )
      )
        return hub
    }
    return undefined
  }

  #join(client: Socket, hub: Socket): void {
    const pair = { silent: false, end: () => void [client.destroy(), hub.destroy()] }
    this.#pass(client, hub, pair)
    this.#pass(hub, client, pair)
  }

  /** Passes pieces on in their order. The end of one side is passed on after the pieces before it. */
  #pass(from: Socket, to: Socket, pair: { silent: boolean; end(): void }): void {
    let before = Promise.resolve()
    const after = (work: () => void) => {
      before = before.then(work)
    }
    from.on('data', (piece: Buffer) => {
      if (pair.silent) return
      if (this.#happens('cut')) return pair.end()
      if (this.#happens('silenced')) {
        pair.silent = true
        setTimeout(pair.end, this.#how.silentMs).unref()
        return
      }
      if (this.#happens('delayed')) {
        const ms = this.#lot() * this.#how.delayMs
        before = before.then(() => new Promise((resolve) => setTimeout(resolve, ms)))
      }
      after(() => {
        if (from.destroyed && !this.#how.late) return
        if (!pair.silent && !to.destroyed && !to.write(piece)) {
          from.pause()
          to.once('drain', () => from.resume())
        }
      })
    })
    from.on('end', () => after(() => void to.end()))
    from.on('close', () => after(() => to.destroySoon()))
  }

  #own(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket))
  }

  #happens(what: 'refused' | 'delayed' | 'cut' | 'silenced'): boolean {
    if (this.#lot() >= this.#how[what]) return false
    this.counts[what]++
    return true
  }
}
