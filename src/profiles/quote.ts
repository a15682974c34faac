/** One word of a command for bash, whatever it holds: a thread key or a model name is data, never code. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
