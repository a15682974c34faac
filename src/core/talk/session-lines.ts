import type { Entry } from './entry.ts'
import type { Line, Log } from './store.ts'
import { isEntry } from './entry.ts'

/** The location of a session's entries: its own from a position of the log on, and, for a fork, those of its origin before them. */
export type SessionPlace = { id: string; from?: number; origin?: Origin }

/** The session from which a fork begins, up to a position of the log. */
type Origin = SessionPlace & { until: number }

/**
 * Reads the lines of a session newest first, from its end or from a position, including those that could not be read. `ended` are
 * the turns whose end has already been read, for a reader that starts in the middle.
 */
export async function* sessionLines(
  log: Log<Entry>,
  { id, from = 0, origin }: SessionPlace,
  before = Infinity,
  ended = new Set<string>(),
): AsyncGenerator<Line<Entry>> {
  for await (const line of log.back(before)) {
    if (line.at < from) break
    if (line.broken !== undefined) yield line
    else if (!isEntry(line.item)) yield { at: line.at, broken: JSON.stringify(line.item) }
    else if (line.item.session === id) yield line
  }
  if (origin) yield* inherited(sessionLines(log, origin, Math.min(before, origin.until), ended), ended)
}

/**
 * Yields the lines that a fork takes over: those of the turns that were over by then. The threads of CLIs stay with their own session,
 * because a thread has heard what the fork leaves out: in the fork each CLI begins a new one.
 */
async function* inherited(lines: AsyncIterable<Line<Entry>>, ended: Set<string>): AsyncGenerator<Line<Entry>> {
  for await (const line of lines) {
    const { item } = line
    if (item?.type === 'end') ended.add(item.turn)
    if (item?.type === 'thread' || (item && item.turn !== '' && !ended.has(item.turn))) continue
    yield line
  }
}
