import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { connect, createServer } from 'node:net'

/** A way between two ends that can be slow, cut or dead: it stands for the network between two machines. */
export class TcpProxy {
  readonly port: number
  /** How long each piece of bytes is on its way. */
  delayMs = 0
  /** Whether new connections are refused. */
  refuses = false
  /** The most bytes that go towards the client in one second. */
  bytesPerSecond = Infinity
  #frozen = false
  #pairs = new Set<[Socket, Socket]>()
  /** Also those whose other end is gone while the way was dead. */
  #sockets = new Set<Socket>()
  #target: number

  private constructor(port: number, target: number) {
    this.port = port
    this.#target = target
  }

  static async to(t: TestContext, target: number): Promise<TcpProxy> {
    const server = createServer((from) => proxy.#join(from))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const proxy = new TcpProxy((server.address() as AddressInfo).port, target)
    t.after(() => {
      for (const socket of proxy.#sockets) socket.destroy()
      server.close()
    })
    return proxy
  }

  get connections(): number {
    return this.#pairs.size
  }

  /** New connections go elsewhere. */
  lead(target: number): void {
    this.#target = target
  }

  /** Resets all connections, as a router that forgot them does. */
  cut(): void {
    for (const [from, to] of this.#pairs) {
      from.destroy()
      to.destroy()
    }
  }

  /** Carries nothing on in either direction, and closes nothing: both ends think that they are connected. */
  freeze(): void {
    this.#frozen = true
    for (const pair of this.#pairs) for (const socket of pair) socket.pause()
  }

  /** Connections that were frozen stay dead; new ones work. */
  thaw(): void {
    this.#frozen = false
  }

  #join(from: Socket): void {
    from.on('error', () => {})
    if (this.refuses) return void from.destroy()
    const to = connect(this.#target, '127.0.0.1').on('error', () => from.destroy())
    const pair: [Socket, Socket] = [from, to]
    this.#pairs.add(pair)
    for (const socket of pair) this.#sockets.add(socket.once('close', () => this.#sockets.delete(socket)))
    this.#carry(from, to)
    this.#carry(to, from)
    for (const socket of pair)
      socket.once('close', () => {
        this.#pairs.delete(pair)
        if (!this.#frozen) for (const end of pair) end.destroy()
      })
    if (this.#frozen) for (const socket of pair) socket.pause()
  }

  #carry(from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      const pass = () => void (to.destroyed || this.#frozen || to.write(bytes))
      if (this.bytesPerSecond < Infinity) {
        from.pause()
        setTimeout(
          () => {
            pass()
            if (!this.#frozen) from.resume()
          },
          (bytes.length / this.bytesPerSecond) * 1000,
        )
      } else if (this.delayMs === 0) pass()
      else setTimeout(pass, this.delayMs)
    })
  }
}
