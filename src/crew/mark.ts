import type { Terminal } from '../core/screen/terminal.ts'

const rows = 2_000

/** Whether a terminal shows a prompt with this mark, or has shown it: rows are joined, because a mark may be folded. */
export async function showsMark(terminal: Terminal, mark: string): Promise<boolean> {
  const shown = await terminal.history(rows)
  return shown
    .map((row) => row.trimEnd())
    .join('')
    .includes(mark)
}
