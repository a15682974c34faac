import type { Peer } from '../../core/talk/peer.ts'
import { wordsOf } from '../../base/words.ts'
import { version } from './frame.ts'
import { text, texts } from './params.ts'
import { TerminalCalls } from './terminal-calls.ts'

type Params = Record<string, unknown>

/** The wishes that one answer settles; whatever else is asked for is told what there is. */
export class Calls {
  #table: Record<string, (params: Params) => Promise<unknown>>

  constructor(peer: Peer) {
    this.#table = {
      turns: () => peer.turns(),
      cancel: async ({ turn }) => peer.cancel(text('turn', turn)),
      steer: async ({ turn, text: words }) => peer.steer(text('turn', turn), text('text', words)),
      answer: async ({ turn, ask, picks }) => peer.answer(text('turn', turn), text('ask', ask), texts('picks', picks)),
      ...new TerminalCalls(peer).table,
    }
  }

  async answer(method: unknown, params: Params): Promise<{ done: unknown } | { error: string }> {
    try {
      const known = typeof method === 'string' && Object.hasOwn(this.#table, method)
      if (known) return { done: (await this.#table[method]!(params)) ?? null }
      return { error: `no such method: version ${version} has follow, leave, ${Object.keys(this.#table).join(', ')}` }
    } catch (error) {
      return { error: wordsOf(error) }
    }
  }
}
