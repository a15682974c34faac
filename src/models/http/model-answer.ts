import type { Clock } from '../../base/time/clock.ts'
import type { ModelEvent, ModelRequest } from '../../core/work/model.ts'
import type { ReportedUsage, WireEvent, Images, Target, Trouble, Wire } from './wire-format.ts'
import type { Send } from './http-client.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type * as ProviderFailure from './provider-failure.ts'
import type { Price } from '../model-windows.ts'
import { defined } from '../../base/defined.ts'
import { secondHalf, withHalves } from './begun-answer.ts'
import { asideOf, responseStream } from './response-stream.ts'

/** Classifies a provider's error. The table of all providers' messages is loaded with the first one. */
export const verdictOf = async (...given: Parameters<typeof ProviderFailure.verdictOf>) =>
  (await import('./provider-failure.ts')).verdictOf(...given)

type Asking = {
  wire: Wire
  to: Target
  images: Images
  clock: Clock
  fetch: Send
  /** How long a server may be silent in the middle of an answer before it counts as gone. */
  silenceMs: number
}

/**
 * Streams one answer, or the rest of one whose stream was cut. Never throws; the last event is an `end` or a `failure`. A temporary
 * failure is marked, because the calling agent knows whether it is worth waiting.
 */
export function answer(request: ModelRequest, asking: Asking, signal: AbortSignal): AsyncIterable<ModelEvent> {
  const { wire, to } = asking
  const { begun = [] } = request
  const events = whole(request, asking, signal)
  return begun.length === 0 ? events : secondHalf(events, begun, to, wire)
}

async function* whole(request: ModelRequest, asking: Asking, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { wire, to, clock } = asking
  let renewed = false
  while (!signal.aborted) {
    let said = false
    let trouble: Trouble | undefined
    for await (const heard of once(request, asking, signal)) {
      if (heard.type === 'trouble') {
        trouble = heard.trouble
        break
      }
      to.answered = true
      said ||= heard.type !== 'counted'
      yield pricedEvent(heard, to)
      if (heard.type === 'end') return
    }
    if (signal.aborted || !trouble) break
    const verdict = await verdictOf(trouble, to, wire.options, clock.now())
    if ('refusal' in verdict) {
      yield { type: 'text', delta: verdict.refusal }
      return yield { type: 'end', stop: 'refused' }
    }
    if ('without' in verdict) {
      if (said) return yield { type: 'failure', failure: brokenOff(to) }
      to.refused.add(verdict.without)
      continue
    }
    const { failure, passing, invalid } = verdict
    // A cloud's login may have been replaced or withdrawn before its expiry: a new one is tried once.
    if (failure.kind === 'auth' && !said && !renewed && to.carriage?.renew?.()) {
      renewed = true
      continue
    }
    return yield defined({ type: 'failure', failure, passing: passing ? (true as const) : undefined, invalid })
  }
  yield { type: 'failure', failure: { kind: 'aborted', message: 'cancelled' } }
}

const brokenOff = ({ provider }: Target): Failure => ({ kind: 'crash', message: `${provider.label} failed` })

/** Sends one request, with the checks before and after it. */
async function* once(
  request: ModelRequest,
  { wire, to, images, fetch, clock, silenceMs }: Asking,
  signal: AbortSignal,
): AsyncGenerator<WireEvent> {
  const plain = wire.request(withHalves(request, to, wire), to, images)
  const unfit = wire.fits?.(plain, to)
  if (unfit) return yield { type: 'trouble', trouble: unfit }
  const { carriage } = to
  const sent = carriage ? await carriage.pack(plain, signal) : plain
  if ('trouble' in sent) return yield { type: 'trouble', trouble: sent.trouble }
  let counted: ReportedUsage | undefined
  const reader = wire.reader(to)
  for await (const heard of responseStream(
    { wire, carriage },
    sent,
    reader,
    { send: fetch, clock, silenceMs },
    signal,
  )) {
    if (heard.type === 'counted') counted = heard
    const begun = heard.type === 'trouble' && !counted ? reader.counted?.() : undefined
    // The provider also charges for an answer that was cut.
    if (begun) yield { type: 'counted', ...begun, part: true }
    if (heard.type === 'end' && counted && wire.verify) {
      const short = await wire.verify(to, counted, asideOf(to.key, fetch, signal))
      if (short) return yield { type: 'trouble', trouble: short }
    }
    yield heard
  }
}

function pricedEvent(heard: Exclude<WireEvent, { type: 'trouble' }>, to: Target): ModelEvent {
  if (heard.type !== 'counted') return heard
  const { input, output, cached, written, part } = heard
  const cost = costOf(heard, to.known.price)
  return {
    type: 'usage',
    usage: defined({
      input,
      output,
      cached: cached || undefined,
      written: written || undefined,
      cost,
      source: part ? 'estimated' : 'reported',
      part,
    }),
  }
}

/** Returns the cost of an answer in dollars: the provider's own report, otherwise computed from the price list, otherwise undefined. */
export function costOf(counted: ReportedUsage, price: Price | undefined): number | undefined {
  if (counted.cost !== undefined) return counted.cost
  if (!price) return undefined
  const { input, cached, output, written = 0 } = counted
  const rate = price.over && input > price.over.tokens ? price.over : price
  const fresh = input - cached - written
  const dollars =
    fresh * rate.input + cached * rate.cached + written * (rate.written ?? rate.input) + output * rate.output
  // The cost is rounded to a billionth of a dollar, because prices are not more precise.
  return Math.round(dollars * 1000) / 1e9
}
