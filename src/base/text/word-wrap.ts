/**
 * Breaks lines that are too long for a terminal between words, because a terminal breaks inside them. The rows of a line keep its indent;
 * a word that is longer than a row stays whole. Without a width, for example for a file or a pipe, the text stays unchanged.
 */
export function wordWrapped(text: string, columns: number | undefined): string {
  // A terminal that does not know its size says 0.
  if (!columns) return text
  return text
    .split('\n')
    .flatMap((line) => rowsOf(line, columns))
    .join('\n')
}

function rowsOf(line: string, columns: number): string[] {
  if (line.length <= columns) return [line]
  const [indent = ''] = /^ */.exec(line)!
  const rows: string[] = []
  for (const word of line.slice(indent.length).split(' ')) {
    const last = rows.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) rows[rows.length - 1] = `${last} ${word}`
    else rows.push(indent + word)
  }
  return rows
}
