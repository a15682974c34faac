import type { Entry } from './entry.ts'
import type { Log } from './store.ts'
import { isEntry } from './entry.ts'

export type Tail = { entries: Entry[]; broken: string[] }

/**
 * Reads one session back from the tail, as far as its view needs and no further:
 * to the furthest `end` that a summary stands for, or to where the session began.
 */
export async function readTail(log: Log<Entry>, session: string, from = 0): Promise<Tail> {
  const entries: Entry[] = []
  const broken: string[] = []
  const throughs = new Set<string>()
  const incomplete = new Set<string>()
  let covered = false
  for await (const { at, item, broken: text } of log.back()) {
    if (at < from) break
    if (text !== undefined || !isEntry(item)) {
      broken.push(text ?? JSON.stringify(item))
      continue
    }
    if (item.session !== session) continue
    entries.push(item)
    if (item.type === 'summary') throughs.add(item.through)
    if (item.type === 'end' && throughs.has(item.id)) covered = true
    else if (!covered && item.turn) incomplete.add(item.turn)
    if (item.type === 'prompt') incomplete.delete(item.turn)
    if (covered && incomplete.size === 0) break
  }
  return { entries: entries.reverse(), broken: broken.reverse() }
}
