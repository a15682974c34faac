import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/error-message.ts'

const longestMs = 30_000

/** A request that is given up when the call is, or when it takes too long; what goes wrong is words. */
export async function patiently<T>(
  what: string,
  outer: AbortSignal,
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const late = new AbortController()
  void clock.sleep(longestMs, over.signal).then(() => late.abort())
  try {
    return await work(AbortSignal.any([outer, late.signal]))
  } catch (error) {
    if (outer.aborted) throw new Error('cancelled.')
    if (late.signal.aborted && !over.signal.aborted)
      throw new Error(`${what} gave no answer for ${longestMs / 1000} s. Try again later, or go on without it.`)
    throw new Error(`${what} could not be reached: ${messageOf(error)}.`)
  } finally {
    over.abort()
  }
}
