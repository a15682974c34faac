import type { Event } from '../core/talk/entry.ts'
import type { Target } from '../traces/target.ts'
import type { App } from './app.ts'
import { targetOf } from '../traces/target.ts'
import { version } from './version.ts'

/** Places that were found wanting, so that it is said once. */
const told = new Set<string>()

export type Traces = {
  /** The events of a turn, sent as spans when it is over. */
  of(events: AsyncIterable<Event>): AsyncIterable<Event>
  /** In words, why nothing will arrive; said once for a place. */
  trouble(): Promise<string[]>
}

/** Spans of the turns, for whoever named a place for them in the environment; without one nothing is loaded. */
export function traces(app: App): Traces {
  const target = targetOf(app.io.env)
  if (!target) return { of: (events) => events, trouble: async () => [] }
  // Looked for while the turn is at work, so that nobody waits for it.
  const reached = told.has(target.url) ? undefined : probe(target)
  return {
    of: (events) => traced(app, target, events),
    async trouble() {
      const words = await reached
      if (words === undefined || told.has(target.url)) return []
      told.add(target.url)
      return [`traces do not arrive at ${new URL(target.url).origin}: ${words}`]
    },
  }
}

async function probe(target: Target): Promise<string | undefined> {
  const { send } = await import('../traces/send.ts')
  return send(target, version, [])
}

async function* traced(app: App, target: Target, events: AsyncIterable<Event>): AsyncGenerator<Event> {
  const [{ TurnSpans }, { send }] = await Promise.all([import('../traces/turn-spans.ts'), import('../traces/send.ts')])
  const native = app.settings.agents.filter(({ kind }) => kind === 'native')
  const turn = new TurnSpans({
    now: () => app.io.clock.now(),
    model: (by) => native.find(({ name }) => name === by)?.model,
    mask: app.mask,
    content: target.content,
  })
  try {
    for await (const event of events) {
      turn.see(event)
      yield event
    }
  } finally {
    if (!told.has(target.url)) await send(target, version, turn.spans())
  }
}
