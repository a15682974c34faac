import type { Peer } from '../../core/talk/peer.ts'
import type { Exit, Terminal } from '../../core/screen/terminal.ts'
import { untilAborted } from '../../base/clock.ts'
import { outputUntil } from '../../core/screen/output-until.ts'
import { fittingPicture, fittingRows } from '../fitting-screen.ts'
import { messageOf } from '../../base/error-message.ts'
import { eventFrame, frameOf, longestFrame, version } from './peer-frames.ts'

type Params = Record<string, unknown>

/** The methods that are answered by one frame. An unknown method is answered with the list of them. */
export class PeerMethods {
  #table: Record<string, (params: Params) => Promise<unknown>>

  constructor(peer: Peer) {
    this.#table = {
      turns: () => peer.turns(),
      cancel: async ({ turn }) => peer.cancel(textParam('turn', turn)),
      steer: async ({ turn, text: words }) => peer.steer(textParam('turn', turn), textParam('text', words)),
      answer: async ({ turn, ask, picks }) =>
        peer.answer(textParam('turn', turn), textParam('ask', ask), textListParam('picks', picks)),
      ...new TerminalMethods(peer).table,
    }
  }

  async answer(method: unknown, params: Params): Promise<{ done: unknown } | { error: string }> {
    try {
      const known = typeof method === 'string' && Object.hasOwn(this.#table, method)
      if (known) return { done: (await this.#table[method]!(params)) ?? null }
      return { error: `no such method: version ${version} has follow, leave, ${Object.keys(this.#table).join(', ')}` }
    } catch (error) {
      return { error: messageOf(error) }
    }
  }
}

/** A text in parts that is longer than this is dropped. */
const longestText = 64 * 1024 ** 2

/** The methods on the terminals of this process. */
class TerminalMethods {
  #peer: Peer
  #parts = ''

  constructor(peer: Peer) {
    this.#peer = peer
  }

  readonly table: Record<string, (params: Params) => Promise<unknown>> = {
    terminal: async ({ id }) => {
      const found = await this.#peer.terminal(textParam('id', id))
      return found ? { attach: found.attach } : null
    },
    'terminal.part': async ({ text: part }) => {
      this.#parts += textParam('text', part)
      if (this.#parts.length > longestText) this.#parts = ''
    },
    'terminal.write': async (params) =>
      this.#on(params, (terminal) => terminal.write(this.#whole(params), params.person === true)),
    'terminal.paste': async (params) =>
      this.#on(params, (terminal) => terminal.paste(this.#whole(params), params.person === true)),
    'terminal.press': async (params) => this.#on(params, (terminal) => terminal.press(textParam('key', params.key))),
    'terminal.resize': async (params) =>
      this.#on(params, (terminal) => terminal.resize(countParam('cols', params.cols), countParam('rows', params.rows))),
    'terminal.screen': async (params) => this.#on(params, (terminal) => terminal.screen()),
    'terminal.paint': async (params) =>
      this.#on(params, (terminal) => fittingPicture(terminal, Number(params.above) || 0, longestFrame / 2, lengthOf)),
    'terminal.history': async (params) =>
      this.#on(params, async (terminal) =>
        fittingRows(await terminal.history(countParam('rows', params.rows)), longestFrame / 2, lengthOf),
      ),
    'terminal.children': async (params) => this.#on(params, (terminal) => terminal.children()),
    'terminal.touched': async (params) => this.#on(params, (terminal) => terminal.touched()),
    'terminal.retitle': async (params) =>
      this.#on(params, (terminal) => terminal.retitle(textParam('title', params.title), params.ring === true)),
    'terminal.close': async (params) => this.#on(params, (terminal) => terminal.close()),
  }

  async #on<T>(params: Params, work: (terminal: Terminal) => Promise<T>): Promise<T> {
    const terminal = await this.#peer.terminal(textParam('id', params.id))
    if (!terminal) throw new Error('there is no such terminal')
    return work(terminal)
  }

  /** Joins the parts of a long text: a paste stays one paste, however long. */
  #whole(params: Params): string {
    const whole = this.#parts + textParam('text', params.text)
    this.#parts = ''
    return whole
  }
}

/** The length of a text as a frame has it. */
const lengthOf = (text: string) => JSON.stringify(text).length

/** Yields the frames of one stream until it is done or the follower leaves, and returns the stream's result. */
export type Frames = (id: number, left: AbortSignal) => AsyncGenerator<string | undefined, unknown>

/** The methods that are answered by many frames, or only after a long time. */
const streams: Record<string, (peer: Peer, params: Params) => Frames> = {
  follow: (peer, { turn, how }) =>
    async function* (id, left) {
      for await (const event of peer.follow(String(turn), left, how === 'onlyReading' ? how : undefined))
        yield eventFrame(id, event)
    },
  'terminal.output': (peer, { id: which, after }) =>
    async function* (id, left) {
      const terminal = await peer.terminal(String(which))
      if (!terminal) return
      for await (const { at, bytes } of outputUntil(left, terminal, Number(after) || 0))
        yield frameOf({ id, drawn: { at, bytes: Buffer.from(bytes).toString('base64') } })
    },
  'terminal.exited': (peer, { id: which }) =>
    async function* (_id, left): AsyncGenerator<string, Exit | undefined> {
      const terminal = await peer.terminal(String(which))
      return terminal && (await Promise.race([terminal.exited, untilAborted(left)]))
    },
}

export function streamOf(method: unknown): ((peer: Peer, params: Params) => Frames) | undefined {
  return typeof method === 'string' && Object.hasOwn(streams, method) ? streams[method] : undefined
}

/** Reads a parameter; throws an error that says what the parameter must be where the frame has something else. */
function textParam(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError(`${name} must be a text`)
}

function textListParam(name: string, value: unknown): string[] | undefined {
  if (value === undefined) return undefined
  if (Array.isArray(value)) return value.map((one) => textParam(`each of ${name}`, one))
  throw new TypeError(`${name} must be a list of texts`)
}

function countParam(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number
  throw new TypeError(`${name} must be a whole number above 0`)
}
