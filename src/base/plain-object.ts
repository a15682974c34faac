/** Says whether a value that was read, from JSON for example, is an object with keys: not null and not a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
