import { stripAnsi } from '../../base/ansi.ts'

/** Puts text into a Markdown fence that nothing inside can close. */
export function block(text: string, language = 'text'): string {
  const runs = [...text.matchAll(/`{3,}/g)].map(([run]) => run.length)
  const fence = '`'.repeat(Math.max(2, ...runs) + 1)
  return `${fence}${language}\n${stripAnsi(text).trimEnd()}\n${fence}`
}

/** The bodies of the fenced blocks in a Markdown text; an unclosed block reaches to the end. */
export function fencedBlocks(markdown: string): string[] {
  const blocks: string[][] = []
  let open: string | undefined
  for (const line of markdown.split('\n')) {
    const [, mark, after = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (open === undefined) {
      // Backticks with more backticks on the same line are inline code.
      if (mark === undefined || (mark.startsWith('`') && after.includes('`'))) continue
      open = mark
      blocks.push([])
    } else if (mark?.startsWith(open) && after.trim() === '') open = undefined
    else blocks.at(-1)!.push(line)
  }
  return blocks.map((lines) => lines.join('\n'))
}
