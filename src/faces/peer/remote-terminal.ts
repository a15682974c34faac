import type { Exit, Key, Screen, Terminal } from '../../core/screen/terminal.ts'
import { RecentBytes } from '../../base/recent-bytes.ts'
import type { DrawnBytes } from './peer-frames.ts'

/** What a terminal elsewhere is reached by. */
export type PeerLink = {
  /** Rejects with what went wrong there, or when that process is gone; nobody is hurried. */
  ask(method: string, params: Record<string, unknown>): Promise<unknown>
  /** Ends when it is over there, or when that process is gone. */
  drawn(params: Record<string, unknown>, see: (drawn: DrawnBytes) => void): { over: Promise<void>; leave(): void }
}

/** So many characters go in one frame, whatever they are written as. */
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
    if (attach !== undefined) this.attach = attach
  }

  /** What became of it is not known when its process is gone. */
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

  paste(text: string): Promise<void> {
    return this.#send('paste', text, {})
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

  async paint(): Promise<{ at: number; text: string }> {
    return (await this.#ask('paint')) as { at: number; text: string }
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

  /** Once it is closed there, there is nothing to close. */
  async close(): Promise<void> {
    await this.#ask('close').catch(() => {})
  }

  async *output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    const kept = new RecentBytes()
    const see = ({ at, bytes }: DrawnBytes) => kept.push(Buffer.from(bytes, 'base64'), at)
    const { over, leave } = this.#line.drawn({ id: this.id, after }, see)
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

  /** All parts go out at once, so that nothing comes between them. */
  async #send(what: string, text: string, params: Record<string, unknown>): Promise<void> {
    const parts = text.length > longestPart ? (text.match(partsOf) ?? []) : [text]
    const last = parts.pop() ?? ''
    const sent = parts.map((part) => this.#line.ask('terminal.part', { text: part }))
    await Promise.all([...sent, this.#ask(what, { ...params, text: last })])
  }
}

const partsOf = new RegExp(`[^]{1,${longestPart}}`, 'g')
