/** The two sides of a unified diff as far as it shows them; a mark on both sides replaces the lines that the diff leaves out. */
export function diffSides(diff: string): { before: string; after: string } {
  const before: string[] = []
  const after: string[] = []
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const [mark, text] = [line[0], line.slice(1)]
    if (mark === '@') {
      if (before.length + after.length === 0) continue
      before.push('⋮')
      after.push('⋮')
    } else if (mark === '-') before.push(text)
    else if (mark === '+') after.push(text)
    else if (mark !== '\\') {
      before.push(text)
      after.push(text)
    }
  }
  return { before: ended(before), after: ended(after) }
}

const ended = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
