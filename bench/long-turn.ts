import type { Row } from './measure.ts'
import { bytesOf, longTurn, prefixShares, rightAnswer } from '../test/native/loop/long-turn.ts'

const rounds = 500
const window = 32_000

/** How much of each request of a long turn in a small window repeats the one before: the part that a provider has cached. */
export async function prefixOfLongTurn(): Promise<Row[]> {
  const { outcome, requests, events } = await longTurn(rounds, window)
  if (!outcome.ok || outcome.text !== rightAnswer(rounds)) throw new Error('the long turn ended with a wrong answer')
  const shares = prefixShares(requests)
  const whole = shares.filter((share) => share === 1).length
  const broken = shares.flatMap((share, at) => (share < 1 ? [`request ${at + 2}: ${(100 * share).toFixed(0)} %`] : []))
  const summaries = events.filter(({ type }) => type === 'summary').length
  const largest = Math.max(...requests.map((request) => Math.ceil(bytesOf(request).length / 4)))
  return [
    {
      what: `requests of a turn of ${rounds} rounds in a window of ${window} tokens that begin with the whole request before`,
      value: (100 * whole) / shares.length,
      unit: '%',
      detail: `${whole} of ${shares.length}; ${summaries} summaries, after which less is the same (${broken.join(', ')}); the largest request has about ${largest} tokens`,
    },
  ]
}
