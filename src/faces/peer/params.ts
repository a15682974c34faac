/** What a frame says of a parameter, or an error that says what it must be. */
export function text(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new TypeError(`${name} must be a text`)
}

export function texts(name: string, value: unknown): string[] | undefined {
  if (value === undefined) return undefined
  if (Array.isArray(value)) return value.map((one) => text(`each of ${name}`, one))
  throw new TypeError(`${name} must be a list of texts`)
}

export function count(name: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number
  throw new TypeError(`${name} must be a whole number above 0`)
}
