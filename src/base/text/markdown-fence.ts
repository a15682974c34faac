/** Puts a text into a Markdown fence that is longer than any row of backticks in it, so that nothing inside can close it. */
export function fenceText(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
