import { setImmediate } from 'node:timers/promises'

/** So few that a keystroke never waits for them. */
const atOnce = 256

/** Goes through a long list without holding up whatever else there is to do; false when it was called off. */
export async function inSlices<T>(items: readonly T[], signal: AbortSignal, each: (item: T) => void): Promise<boolean> {
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0) await setImmediate()
    if (signal.aborted) return false
    const to = Math.min(from + atOnce, items.length)
    for (let at = from; at < to; at++) each(items[at]!)
  }
  return true
}
