/** A thread of Codex, and the tokens it had used when it was last heard of. */
export type CodexThread = { id: string; input: number; cached: number; output: number }

/** The key carries the count, because Codex reports only totals and nobody else keeps them. */
export function threadKey({ id, input, cached, output }: CodexThread): string {
  return input + output === 0 ? id : `${id}+${input}.${cached}.${output}`
}

export function threadOf(key: string): CodexThread {
  const [, id, input, cached, output] = /^(.*)\+(\d+)\.(\d+)\.(\d+)$/s.exec(key) ?? [key, key]
  return { id: id!, input: Number(input ?? 0), cached: Number(cached ?? 0), output: Number(output ?? 0) }
}
