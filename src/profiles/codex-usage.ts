import type { Usage } from '../core/talk/entry.ts'
import type { CountedThread } from './counted-thread.ts'
import type { Loose } from './jsonl.ts'
import { usageSince } from './counted-thread.ts'
import { numberOf } from './jsonl.ts'

export const tokensOf = ({ inputTokens, cachedInputTokens, outputTokens }: Loose) => ({
  input: numberOf(inputTokens),
  cached: numberOf(cachedInputTokens),
  output: numberOf(outputTokens),
})

/** Its own thread since it was resumed, and all of those that it began. */
export function usageOf(thread: CountedThread, own: CountedThread | undefined, all: readonly CountedThread[]): Usage {
  const none = { id: '', input: 0, cached: 0, output: 0 }
  return all
    .map((total) => usageSince(total === own ? thread : none, total))
    .reduce(
      (sum, one) => ({
        ...sum,
        input: sum.input + one.input,
        output: sum.output + one.output,
        cached: (sum.cached ?? 0) + (one.cached ?? 0),
      }),
      usageSince(none, none),
    )
}
