import type { Peer } from '../../core/talk/peer.ts'
import { wordsOf } from '../../base/words.ts'
import { version } from './frame.ts'

type Params = Record<string, unknown>

/** The wishes that one answer settles; whatever else is asked for is told what there is. */
const calls: Record<string, (peer: Peer, params: Params) => Promise<unknown>> = {
  turns: (peer) => peer.turns(),
  cancel: (peer, { turn }) => peer.cancel(text('turn', turn)),
  steer: (peer, { turn, text: words }) => peer.steer(text('turn', turn), text('text', words)),
  answer: (peer, { turn, ask, picks }) => peer.answer(text('turn', turn), text('ask', ask), texts('picks', picks)),
}

export async function called(
  peer: Peer,
  method: unknown,
  params: Params,
): Promise<{ done: unknown } | { error: string }> {
  try {
    if (typeof method === 'string' && Object.hasOwn(calls, method)) return { done: await calls[method]!(peer, params) }
    return { error: `no such method: version ${version} has follow, leave, ${Object.keys(calls).join(', ')}` }
  } catch (error) {
    return { error: wordsOf(error) }
  }
}

function text(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError(`${name} must be a text`)
}

function texts(name: string, value: unknown): string[] | undefined {
  if (value === undefined) return undefined
  if (Array.isArray(value)) return value.map((one) => text(`each of ${name}`, one))
  throw new TypeError(`${name} must be a list of texts`)
}
