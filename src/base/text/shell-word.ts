/**
 * Quotes a text as one word of a shell's command line, so that data never becomes code. Only quotes characters that the shell would
 * interpret.
 */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quotedWord(text)
}

/** Quotes a text as one word of a shell's command line, always in single quotes. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
