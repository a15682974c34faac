/** Thrown for a value that a program could take for one of its own flags, or that would end a line. */
export class OptionValueError extends Error {
  override name = 'OptionValueError'
}

/**
 * Returns a value that is safe as one word of a command line; throws for every other one. Model names, session keys and names
 * of files come from models, clients, histories and repositories: "--dangerously-…" in the place of a name must not become a
 * flag. Such a value is refused instead of attached (`--model=VALUE`), because not every program reads that form.
 */
export function optionValue(value: string, of: string): string {
  const why = valueFault(value)
  if (why !== undefined) throw new OptionValueError(`${of}: ${JSON.stringify(value)} ${why}`)
  return value
}

/** Why a text cannot be the value of an option; undefined if it can. */
export function valueFault(value: string): string | undefined {
  if (value === '') return 'is empty'
  if (value.startsWith('-')) return 'begins with "-", so a program would take it for a flag'
  if (/\p{Cc}/u.test(value)) return 'holds a control character'
  return undefined
}
