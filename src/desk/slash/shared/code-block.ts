import { stripAnsi } from '../../../base/text/ansi.ts'
import { fenceText } from '../../../base/text/markdown-fence.ts'

/** Puts text that a program may have printed into a Markdown fence, without its colours. */
export function block(text: string, language = 'text'): string {
  return fenceText(stripAnsi(text).trimEnd(), language)
}

/** The columns that the chat's own margins take: the indent of a command's output, and the column of the scroll bar. */
const margin = 8

/** The columns of a block on a screen that has so many; undefined if that is not known. */
export const blockColumns = (columns: number | undefined): number | undefined => columns && columns - margin

/** The bodies of the fenced blocks in a Markdown text; an unclosed block reaches to the end. */
export function codeBlocksIn(markdown: string): string[] {
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
