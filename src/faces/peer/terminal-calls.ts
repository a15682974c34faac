import type { Peer } from '../../core/talk/peer.ts'
import type { Terminal } from '../../core/screen/terminal.ts'
import { longestFrame } from './frame.ts'
import { count, text } from './params.ts'

type Params = Record<string, unknown>

/** A text that came in more parts than this is no text. */
const longestText = 64 * 1024 ** 2

/** What one who came may do with the terminals of this process. */
export class TerminalCalls {
  #peer: Peer
  #parts = ''

  constructor(peer: Peer) {
    this.#peer = peer
  }

  /** By their methods. */
  readonly table: Record<string, (params: Params) => Promise<unknown>> = {
    terminal: async ({ id }) => {
      const found = await this.#peer.terminal(text('id', id))
      return found ? { ...(found.attach === undefined ? {} : { attach: found.attach }) } : null
    },
    'terminal.part': async ({ text: part }) => {
      this.#parts += text('text', part)
      if (this.#parts.length > longestText) this.#parts = ''
    },
    'terminal.write': async (params) =>
      this.#on(params, (terminal) => terminal.write(this.#whole(params), params.person === true)),
    'terminal.paste': async (params) => this.#on(params, (terminal) => terminal.paste(this.#whole(params))),
    'terminal.press': async (params) => this.#on(params, (terminal) => terminal.press(text('key', params.key))),
    'terminal.resize': async (params) =>
      this.#on(params, (terminal) => terminal.resize(count('cols', params.cols), count('rows', params.rows))),
    'terminal.screen': async (params) => this.#on(params, (terminal) => terminal.screen()),
    'terminal.paint': async (params) => this.#on(params, (terminal) => terminal.paint()),
    'terminal.history': async (params) =>
      this.#on(params, async (terminal) => fitting(await terminal.history(count('rows', params.rows)))),
    'terminal.children': async (params) => this.#on(params, (terminal) => terminal.children()),
    'terminal.touched': async (params) => this.#on(params, (terminal) => terminal.touched()),
    'terminal.retitle': async (params) =>
      this.#on(params, (terminal) => terminal.retitle(text('title', params.title), params.ring === true)),
    'terminal.close': async (params) => this.#on(params, (terminal) => terminal.close()),
  }

  async #on<T>(params: Params, wish: (terminal: Terminal) => Promise<T>): Promise<T> {
    const terminal = await this.#peer.terminal(text('id', params.id))
    if (!terminal) throw new Error('there is no such terminal')
    return wish(terminal)
  }

  /** With the parts that came before it: a paste is one, however long. */
  #whole(params: Params): string {
    const whole = this.#parts + text('text', params.text)
    this.#parts = ''
    return whole
  }
}

/** The newest rows of which a frame can be made. */
function fitting(rows: readonly string[]): string[] {
  let room = longestFrame / 2
  const from = rows.findLastIndex((row) => (room -= JSON.stringify(row).length + 1) < 0)
  return rows.slice(from + 1)
}
