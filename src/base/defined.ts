/** Drops the properties whose value is undefined, for objects that are compared or printed whole. */
export function defined<T extends object>(properties: T): T {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined)) as T
}
