const mostChars = 24 * 1024

/** The lines of one file that matched; without a path it is the one that was named. */
export type Group = { path?: string; lines: string[] }

export type Matches = { groups: Group[]; more: boolean }

/** What ripgrep printed under headings: an empty line lies between two files, and one file alone has no heading. */
export function groupsOf(lines: readonly string[], headings: boolean): Group[] {
  if (!headings) return lines.length > 0 ? [{ lines: [...lines] }] : []
  const groups: Group[] = []
  let open: Group | undefined
  for (const line of lines) {
    if (line === '') open = undefined
    else if (open) open.lines.push(line)
    else groups.push((open = { path: line.replace(/^\.\//, ''), lines: [] }))
  }
  // The last heading may have lost its lines to the limit.
  return groups.filter(({ lines }) => lines.length > 0)
}

/** The matches as the model is told them; undefined when there are none. */
export function toldMatches({ groups, more }: Matches, hidden: readonly string[]): string | undefined {
  if (groups.length === 0 && hidden.length === 0) return undefined
  const text = groups
    .map(({ path, lines }) => [...(path === undefined ? [] : [path]), ...lines].join('\n'))
    .join('\n\n')
  const cut = more || text.length > mostChars
  const secret = `[left out, because they may hold keys: ${hidden.join(', ')}. Name one as path if you need it.]`
  const notes = [
    ...(hidden.length > 0 ? [secret] : []),
    ...(cut ? ['[there is more: narrow it by path, glob or a longer pattern]'] : []),
  ]
  return [text.slice(0, mostChars), ...notes].filter((part) => part !== '').join('\n')
}
