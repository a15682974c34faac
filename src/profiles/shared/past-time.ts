/** The time that a record contains, as text or in milliseconds; undefined for anything else. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : value
  return typeof at === 'number' && Number.isFinite(at) && at > 0 ? Math.floor(at) : undefined
}
