import type { Usage } from '../../core/talk/entry.ts'

/** A thread of a CLI that reports totals alone, and the tokens it had used when it was last heard of. */
export type CountedThread = { id: string; input: number; cached: number; output: number }

/** The key carries the count, because nobody else keeps it. */
export function threadKey({ id, input, cached, output }: CountedThread): string {
  return input + output === 0 ? id : `${id}+${input}.${cached}.${output}`
}

export function threadOf(key: string): CountedThread {
  const [, id, input, cached, output] = /^(.*)\+(\d+)\.(\d+)\.(\d+)$/s.exec(key) ?? [key, key]
  return { id: id!, input: Number(input ?? 0), cached: Number(cached ?? 0), output: Number(output ?? 0) }
}

/** It counts a thread from its start; a turn used what came since. */
export function usageSince(before: CountedThread, total: CountedThread): Usage {
  const since = (field: 'input' | 'cached' | 'output') => Math.max(0, total[field] - before[field])
  return { type: 'usage', input: since('input'), output: since('output'), cached: since('cached'), source: 'reported' }
}
