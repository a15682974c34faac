import type { CallBlock } from '../block.ts'
import type { RenderContext } from '../markdown/render-context.ts'
import { keyOf } from '../../desk/keys.ts'
import { duration } from '../../style/numbers.ts'
import { safeText } from '../../style/safe-text.ts'
import { indented, wrapped } from '../../style/screen-text.ts'
import { stateMark } from './call-lines.ts'

/** How many lines of the output are shown at first (the newest ones), and how many once the block is opened. */
const mostLines = 20
const mostOpened = 1000

export const toldWords = 'the next agent sees this output'

/** A command that the person ran with "!": the end of its output, and its result. */
export function commandOutputLines(call: CallBlock, width: number, { theme }: RenderContext, open: boolean): string[] {
  // A command without an exit code continued in the background.
  const code = call.exit ?? (call.state === 'ok' ? 'background' : 0)
  const exit =
    code === 0
      ? ''
      : code === 'background'
        ? 'in the background'
        : typeof code === 'number'
          ? `exit code ${code}`
          : `ended by ${code}`
  // The status line shows the exit code, so the last line of the output need not.
  const output = safeText(call.output.replace(/\n?\[(?:exit code \d+|killed by \w+)\]$/, '')).trimEnd()
  const lines = output === '' ? [] : wrapped(output, width - 2)
  const most = open ? mostOpened : mostLines
  const hidden = Math.max(0, lines.length - most)
  const above =
    hidden > 0
      ? [
          theme.quiet(
            `… ${hidden} more ${hidden === 1 ? 'line' : 'lines'}${open ? '' : `; ${keyOf('openAll')} shows them`}`,
          ),
        ]
      : []
  const status =
    call.state === 'running'
      ? ['running', 'Esc cancels']
      : [exit || (call.state === 'ok' ? 'done' : 'stopped'), duration(call.ms ?? 0), toldWords]
  return [
    ...indented([...above, ...lines.slice(hidden)], '  '),
    `  ${stateMark(call.state, theme)} ${theme.quiet(status.join(' · '))}`,
  ]
}
