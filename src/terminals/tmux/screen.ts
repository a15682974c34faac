import type { Screen } from '../../core/screen/terminal.ts'
import type { TmuxServer } from './server.ts'
import { TmuxError } from './server.ts'
import { titleOption } from './pane.ts'

const fields = [
  'pane_dead',
  'alternate_on',
  'history_size',
  'pane_width',
  'pane_height',
  'cursor_x',
  'cursor_y',
  'cursor_flag',
]
const format = [...fields, 'pane_title', titleOption].map((name) => `#{${name}}`).join('\t')

type Captured = { screen: Screen; rows: string[]; cursorShown: boolean }

/** What a pane shows, with so many rows above it, as tmux renders it; `styled` keeps the colours. */
export async function captured(server: TmuxServer, pane: string, above = 0, styled = false): Promise<Captured> {
  // One row more: the message of a dead pane has pushed the first one off the screen.
  const capture = ['capture-pane', '-p', ...(styled ? ['-e'] : []), '-S', String(-above - 1), '-t', pane]
  const out = await server.ask([['display-message', '-p', '-t', pane, format], capture])
  const [head, ...lines] = out.replace(/\n$/, '').split('\n')
  const [dead, alternate, behind, width, height, x, y, shown, said, called] = head!.split('\t')
  if (!height) throw new TmuxError(`tmux: the pane ${pane} is gone`)
  const rows = Number(height)
  const all = [...lines, ...Array<string>(Math.max(0, rows - lines.length)).fill('')]
  // Whatever of that row is there stands in front of the screen.
  const pushed = dead === '1' && alternate !== '1' && Number(behind) > 0
  const ended = pushed ? all.slice(0, -1) : all
  const title = said || called
  return {
    screen: {
      rows: ended.slice(-rows),
      cols: Number(width),
      cursor: { row: Number(y), col: Number(x) },
      ...(title ? { title } : {}),
    },
    rows: ended,
    cursorShown: shown === '1',
  }
}

/** The last of these rows that hold something. */
export function lastRows(rows: readonly string[], count: number): string[] {
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1).slice(-count)
}
