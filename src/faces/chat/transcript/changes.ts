import type { FileChange } from '../../../core/talk/entry.ts'

/** The files that a call changed, from the `data` of its result: one, several, or none. */
export function changesOf(data: unknown): FileChange[] {
  if (Array.isArray(data)) return data.flatMap(changesOf)
  if (typeof data !== 'object' || data === null) return []
  if ('changes' in data) return changesOf(data.changes)
  return isChange(data) ? [data] : []
}

function isChange(value: object): value is FileChange {
  const { path, before, after } = value as Record<string, unknown>
  return typeof path === 'string' && typeof after === 'string' && (before === undefined || typeof before === 'string')
}
