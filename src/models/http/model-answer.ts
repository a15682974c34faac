import type { Clock } from '../../base/clock.ts'
import type { ModelEvent, ModelRequest } from '../../core/work/model.ts'
import type { ReportedUsage, WireEvent, Images, Target, Trouble, Wire } from '../wire-format.ts'
import type { Send } from './http-client.ts'
import type { Price } from '../model-windows.ts'
import { asideOf, responseStream } from './response-stream.ts'
import { verdictOf } from './provider-failure.ts'

/** How long one answer is retried before the model gives up. */
const longestTry = 8000
const pauses = [500, 2000]

export type Asking = { wire: Wire; to: Target; images: Images; clock: Clock; fetch: Send }

/**
 * Streams one answer. The request is repeated when an error is likely to pass soon and nothing was streamed yet.
 * Never throws; the last event is an `end` or a `failure`.
 */
export async function* answer(request: ModelRequest, asking: Asking, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { wire, to, clock } = asking
  const until = clock.elapsed() + longestTry
  let tried = 0
  while (!signal.aborted) {
    let said = false
    let trouble: Trouble | undefined
    for await (const heard of once(request, asking, signal)) {
      if (heard.type === 'trouble') {
        trouble = heard.trouble
        break
      }
      said ||= heard.type !== 'counted'
      yield shown(heard, to)
      if (heard.type === 'end') return
    }
    if (signal.aborted || !trouble) break
    const verdict = verdictOf(trouble, to, wire.options, clock.now())
    if ('refusal' in verdict) {
      yield { type: 'text', delta: verdict.refusal }
      return yield { type: 'end', stop: 'refused' }
    }
    if ('without' in verdict && !said) {
      to.refused.add(verdict.without)
      continue
    }
    const failure =
      'failure' in verdict ? verdict.failure : { kind: 'crash' as const, message: `${to.provider.label} broke off` }
    const passing = 'failure' in verdict && verdict.passing && !said
    const pause = Math.max(pauses[tried] ?? Infinity, (failure.retryAt ?? 0) - clock.now())
    if (!passing || clock.elapsed() + pause > until) return yield { type: 'failure', failure }
    tried++
    await clock.sleep(pause, signal)
  }
  yield { type: 'failure', failure: { kind: 'aborted', message: 'cancelled' } }
}

/** Sends one request, with the checks before and after it. */
async function* once(
  request: ModelRequest,
  { wire, to, images, fetch }: Asking,
  signal: AbortSignal,
): AsyncGenerator<WireEvent> {
  const sent = wire.request(request, to, images)
  const unfit = wire.fits?.(sent, to)
  if (unfit) return yield { type: 'trouble', trouble: unfit }
  let counted: ReportedUsage | undefined
  for await (const heard of responseStream(wire, sent, wire.reader(to), fetch, signal)) {
    if (heard.type === 'counted') counted = heard
    if (heard.type === 'end' && counted && wire.verify) {
      const short = await wire.verify(to, counted, asideOf(to.key, fetch, signal))
      if (short) return yield { type: 'trouble', trouble: short }
    }
    yield heard
  }
}

function shown(heard: Exclude<WireEvent, { type: 'trouble' }>, to: Target): ModelEvent {
  if (heard.type !== 'counted') return heard
  const { input, output, cached } = heard
  const cost = costOf(heard, to.known.price)
  return {
    type: 'usage',
    usage: {
      input,
      output,
      ...(cached > 0 && { cached }),
      ...(cost !== undefined && { cost }),
      source: 'reported',
    },
  }
}

/** Returns the cost of an answer in dollars: as the provider reported it, else by the price list, else undefined. */
export function costOf(counted: ReportedUsage, price: Price | undefined): number | undefined {
  if (counted.cost !== undefined) return counted.cost
  if (!price) return undefined
  const { input, cached, output, written = 0 } = counted
  const rate = price.over && input > price.over.tokens ? price.over : price
  const fresh = input - cached - written
  const dollars =
    fresh * rate.input + cached * rate.cached + written * (rate.written ?? rate.input) + output * rate.output
  // Rounded to a billionth of a dollar: prices are no more exact.
  return Math.round(dollars * 1000) / 1e9
}
