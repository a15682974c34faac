import type { Event } from '../core/talk/entry.ts'
import type { TraceTarget } from '../traces/trace-target.ts'
import type { App, AppPlace } from './app.ts'
import { SteadyTime } from '../base/time/clock.ts'
import { targetOf } from '../traces/trace-target.ts'
import { version } from '../base/version.ts'

/** Sees each event of a turn before it is passed on; `end` is called once, however the turn ended. */
export type TurnObserver = { see(event: Event): void; end(): void | Promise<void> }

/** Collects the spans of one turn, and sends them after the turn. */
type TurnTraces = TurnObserver & {
  /** Says why no spans will arrive, once for each target. */
  trouble(): Promise<string[]>
}

/** Unreachable targets that were already reported to the person. */
const unreachable = new Set<string>()

/** Opens traces for the target that the environment names; without a target no code is loaded. */
export async function openTraces({ io, settings, border }: AppPlace): Promise<TurnTraces | undefined> {
  const target = targetOf(io.env)
  if (!target) return undefined
  // The target is probed while the turn runs, so that the turn need not wait.
  const probed = unreachable.has(target.url) ? undefined : probe(target, io.env)
  const [{ TurnSpans }, { sendSpans }] = await Promise.all([
    import('../traces/turn-spans.ts'),
    import('../traces/otlp-client.ts'),
  ])
  const time = new SteadyTime(io.clock)
  const native = settings.agents.filter(({ kind }) => kind === 'native')
  const spans = new TurnSpans({
    now: () => time.now(),
    model: (by) => native.find(({ name }) => name === by)?.model,
    mask: border.toward('trace'),
    content: target.content,
  })
  return {
    see: (event) => spans.see(event),
    async end() {
      if (!unreachable.has(target.url)) await sendSpans(target, version, spans.spans(), io.env)
    },
    async trouble() {
      const why = await probed
      if (why === undefined || unreachable.has(target.url)) return []
      unreachable.add(target.url)
      return [`traces do not arrive at ${new URL(target.url).origin}: ${why}`]
    },
  }
}

async function probe(target: TraceTarget, env: App['io']['env']): Promise<string | undefined> {
  const { sendSpans } = await import('../traces/otlp-client.ts')
  return sendSpans(target, version, [], env)
}
