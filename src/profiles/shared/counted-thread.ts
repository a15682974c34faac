import type { Usage } from '../../core/talk/entry.ts'

/** A thread of a CLI that reports only totals, with its token count at the end of its last turn. */
export type CountedThread = { id: string; input: number; cached: number; output: number }

/** The key of a thread; the key includes the count, which is stored nowhere else. */
export function threadKey({ id, input, cached, output }: CountedThread): string {
  return input + output === 0 ? id : `${id}+${input}.${cached}.${output}`
}

export function threadOf(key: string): CountedThread {
  const [, id, input, cached, output] = /^(.*)\+(\d+)\.(\d+)\.(\d+)$/s.exec(key) ?? [key, key]
  return { id: id, input: Number(input ?? 0), cached: Number(cached ?? 0), output: Number(output ?? 0) }
}

/** The usage of a turn: the CLI counts a thread from its start, so the earlier count is subtracted. */
export function usageSince(before: CountedThread, total: CountedThread): Usage {
  const since = (field: 'input' | 'cached' | 'output') => Math.max(0, total[field] - before[field])
  return { type: 'usage', input: since('input'), output: since('output'), cached: since('cached'), source: 'reported' }
}
