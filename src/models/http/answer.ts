import type { Clock } from '../../base/clock.ts'
import type { ModelEvent, ModelRequest } from '../../core/work/model.ts'
import type { Counted, Heard, Images, Target, Trouble, Wire } from '../wire.ts'
import type { Send } from './send.ts'
import { costOf } from '../cost.ts'
import { asideOf, hear } from './hear.ts'
import { verdictOf } from './verdict.ts'

/** How long one answer may be tried for before somebody else is asked. */
const longestTry = 8000
const pauses = [500, 2000]

export type Asking = { wire: Wire; to: Target; images: Images; clock: Clock; fetch: Send }

/**
 * One answer, asked for again when what went wrong passes soon and nothing was said yet.
 * It never throws, and its last event is an `end` or a `failure`.
 */
export async function* answer(request: ModelRequest, asking: Asking, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { wire, to, clock } = asking
  const until = clock.now() + longestTry
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
    if (!passing || clock.now() + pause > until) return yield { type: 'failure', failure }
    tried++
    await clock.sleep(pause, signal)
  }
  yield { type: 'failure', failure: { kind: 'aborted', message: 'cancelled' } }
}

/** One request; what its server is to be asked before and after is asked here. */
async function* once(
  request: ModelRequest,
  { wire, to, images, fetch }: Asking,
  signal: AbortSignal,
): AsyncGenerator<Heard> {
  const sent = wire.request(request, to, images)
  const unfit = wire.fits?.(sent, to)
  if (unfit) return yield { type: 'trouble', trouble: unfit }
  let counted: Counted | undefined
  for await (const heard of hear(wire, sent, wire.reader(to), fetch, signal)) {
    if (heard.type === 'counted') counted = heard
    if (heard.type === 'end' && counted && wire.verify) {
      const short = await wire.verify(to, counted, asideOf(to.key, fetch, signal))
      if (short) return yield { type: 'trouble', trouble: short }
    }
    yield heard
  }
}

function shown(heard: Exclude<Heard, { type: 'trouble' }>, to: Target): ModelEvent {
  if (heard.type !== 'counted') return heard
  const { input, output, cached } = heard
  const cost = costOf(heard, to.known.price)
  return {
    type: 'usage',
    usage: {
      input,
      output,
      ...(cached > 0 ? { cached } : {}),
      ...(cost === undefined ? {} : { cost }),
      source: 'reported',
    },
  }
}
