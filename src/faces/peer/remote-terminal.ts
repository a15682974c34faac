import type { Exit, Key, Picture, Screen, Terminal } from '../../core/screen/terminal.ts'
import { RecentBytes } from '../../base/recent-bytes.ts'
import type { DrawnBytes } from './peer-frames.ts'

/** The connection to the process of a remote terminal. */
type PeerLink = {
  /** Waits as long as it takes; rejects with the error of that process, or when that process is gone. */
  ask(method: string, params: Record<string, unknown>): Promise<unknown>
  /** Hands on the terminal's output; `over` resolves when the output has ended or that process is gone. */
  drawn(params: Record<string, unknown>, see: (drawn: DrawnBytes) => void): { over: Promise<void>; leave(): void }
}

/** Characters that fit into one frame, however they are escaped. */
const longestPart = 128 * 1024

/** A terminal that lives in another process. */
export class RemoteTerminal implements Terminal {
  readonly id: string
  readonly attach?: string
  #line: PeerLink
  #exited: Promise<Exit> | undefined

  constructor(line: PeerLink, id: string, attach: string | undefined) {
    this.#line = line
    this.id = id
    this.attach = attach
  }

  /** Empty when the terminal's process is gone, because the way the program ended is then unknown. */
  get exited(): Promise<Exit> {
    this.#exited ??= this.#ask('exited').then(
      (exit) => (exit ?? {}) as Exit,
      () => ({}),
    )
    return this.#exited
  }

  write(text: string, person = false): Promise<void> {
    return this.#send('write', text, { person })
  }

  paste(text: string, person = false): Promise<void> {
    return this.#send('paste', text, { person })
  }

  async press(key: Key): Promise<void> {
    await this.#ask('press', { key })
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#ask('resize', { cols, rows })
  }

  async screen(): Promise<Screen> {
    return (await this.#ask('screen')) as Screen
  }

  async paint(above = 0): Promise<Picture> {
    return (await this.#ask('paint', { above })) as Picture
  }

  async history(rows: number): Promise<string[]> {
    return (await this.#ask('history', { rows })) as string[]
  }

  async children(): Promise<number> {
    return (await this.#ask('children')) as number
  }

  async touched(): Promise<number> {
    return (await this.#ask('touched')) as number
  }

  async retitle(title: string, ring = false): Promise<void> {
    await this.#ask('retitle', { title, ring })
  }

  /** An error means that the terminal is closed already. */
  async close(): Promise<void> {
    await this.#ask('close').catch(() => {})
  }

  async *output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    const kept = new RecentBytes()
    const see = ({ at, bytes }: DrawnBytes) => kept.push(Buffer.from(bytes, 'base64'), at)
    const { over, leave } = this.#line.drawn({ id: this.id, after }, see)
    // `follow` below ends by this.
    void over.then(() => kept.close())
    try {
      yield* kept.follow(after)
    } finally {
      leave()
    }
  }

  #ask(what: string, params: Record<string, unknown> = {}): Promise<unknown> {
    return this.#line.ask(`terminal.${what}`, { id: this.id, ...params })
  }

  /** Sends a long text in parts, all at once, so that nothing comes between them. */
  async #send(what: string, text: string, params: Record<string, unknown>): Promise<void> {
    const parts = text.length > longestPart ? (text.match(partsOf) ?? []) : [text]
    const last = parts.pop() ?? ''
    const sent = parts.map((part) => this.#line.ask('terminal.part', { text: part }))
    await Promise.all([...sent, this.#ask(what, { ...params, text: last })])
  }
}

const partsOf = new RegExp(`[^]{1,${longestPart}}`, 'g')
