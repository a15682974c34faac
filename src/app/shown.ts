import type { Reach, TurnAtWork, TurnsAtWork } from '../core/talk/at-work.ts'
import type { Event } from '../core/talk/entry.ts'
import { isEntry } from '../core/talk/entry.ts'

/** Where a turn can be seen by other processes, and how their wishes reach it. */
export type Reachable = { turns: TurnsAtWork; reach: Reach }

/** The events of a turn, seen by whoever follows it before they go on. */
export async function* shownTo(
  { turns, reach }: Reachable,
  project: string,
  events: AsyncIterable<Event>,
): AsyncGenerator<Event> {
  let atWork: TurnAtWork | undefined
  try {
    for await (const event of events) {
      if (!atWork && event.type === 'prompt' && isEntry(event)) {
        const { turn, session, text: prompt, at: since } = event
        atWork = turns.begin({ turn, session, prompt, since, project }, reach)
      }
      atWork?.see(event)
      yield event
    }
  } finally {
    atWork?.end()
  }
}
