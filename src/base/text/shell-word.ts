/** Writes a text as one word of a shell's command line, so that data never becomes code. Quotes only what the shell would read differently. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quotedWord(text)
}

/** Writes a text as one word of a shell's command line, always in single quotes. */
export function quotedWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
