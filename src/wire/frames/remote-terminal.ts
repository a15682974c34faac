import type { Exit, Key, Picture, Screen, Terminal } from '../../core/screen/terminal.ts'
import type { CallName, GivenBy, ParamsOf, StreamName } from './methods.ts'

/** The connection to the program that has a terminal. A read-only line refuses everything else with an error message. */
export interface TerminalLine {
  /** Rejects if the other side refuses or is gone. */
  call<N extends CallName>(method: N, params: ParamsOf<N>): Promise<GivenBy<N>>
  /** Ends if the other side refuses or is gone. */
  stream<N extends StreamName>(method: N, params: ParamsOf<N>): AsyncGenerator<GivenBy<N>>
  /** The exit to report if the program can no longer be asked. */
  readonly lost: Exit
}

/** Characters that fit into one frame, however they are escaped. */
const longestPart = 256 * 1024
const partsOf = new RegExp(`[^]{1,${longestPart}}`, 'g')

/** A terminal that belongs to another program. */
export class RemoteTerminal implements Terminal {
  readonly id: string
  readonly attach?: string
  #line: TerminalLine
  #exited: Promise<Exit> | undefined
  /** A long text that is being sent: no other input may come between its parts. */
  #long: Promise<unknown> | undefined

  constructor(line: TerminalLine, id: string, attach?: string) {
    this.#line = line
    this.id = id
    this.attach = attach
  }

  get exited(): Promise<Exit> {
    return (this.#exited ??= this.#end())
  }

  write(text: string, person = false): Promise<void> {
    return this.#type(text, { paste: false, person })
  }

  paste(text: string, person = false): Promise<void> {
    return this.#type(text, { paste: true, person })
  }

  async press(key: Key): Promise<void> {
    await this.#line.call('terminal.press', { id: this.id, key })
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#line.call('terminal.resize', { id: this.id, cols, rows })
  }

  screen(): Promise<Screen> {
    return this.#line.call('terminal.screen', { id: this.id })
  }

  paint(above = 0): Promise<Picture> {
    return this.#line.call('terminal.paint', { id: this.id, above })
  }

  history(rows: number): Promise<string[]> {
    return this.#line.call('terminal.history', { id: this.id, rows })
  }

  children(): Promise<number> {
    return this.#line.call('terminal.children', { id: this.id })
  }

  touched(): Promise<number> {
    return this.#line.call('terminal.touched', { id: this.id })
  }

  async retitle(title: string, ring = false): Promise<void> {
    await this.#line.call('terminal.retitle', { id: this.id, title, ring })
  }

  async close(): Promise<void> {
    await this.#line.call('terminal.close', { id: this.id })
  }

  output(after = 0): AsyncGenerator<{ at: number; bytes: Uint8Array }> {
    return this.#line.stream('terminal.output', { id: this.id, after })
  }

  async #end(): Promise<Exit> {
    for await (const exit of this.#line.stream('terminal.exited', { id: this.id })) return exit
    return this.#line.lost
  }

  async #type(text: string, how: { paste: boolean; person: boolean }): Promise<void> {
    while (this.#long) await this.#long
    const type = (last: string) => this.#line.call('terminal.type', { id: this.id, text: last, ...how })
    if (text.length <= longestPart) await type(text)
    else {
      const parts = text.match(partsOf) ?? []
      const last = parts.pop() ?? ''
      const sent = (async () => {
        for (const part of parts) await this.#line.call('terminal.part', { id: this.id, text: part })
        await type(last)
      })()
      this.#long = sent.catch(() => {}).then(() => (this.#long = undefined))
      await sent
    }
  }
}
