import type { Call } from '../block.ts'
import type { Look } from '../look.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { duration, lineCounts } from '../../numbers.ts'
import { brief, inFull } from '../brief.ts'
import { changeLines, countsOf } from '../diff.ts'
import { bounded, harmless, indented, oneLine, wrapped } from '../text.ts'

const marks = { running: '◌', ok: '✓', failed: '✗', stopped: '■' } as const

/** How much of an input or an output is shown when a call is opened. */
const mostOpened = 8000

/** A call of a tool: one line, that opens to what went in and what came out. */
export function callLines(call: Call, width: number, look: Look, open: boolean): string[] {
  return open
    ? [headLine(call, width, look), ...indented(bodyLines(call, width - 4, look), '    ')]
    : [headLine(call, width, look)]
}

function headLine(call: Call, width: number, look: Look): string {
  const { theme } = look
  const paint = { running: theme.warn, ok: theme.good, failed: theme.bad, stopped: theme.quiet }[call.state]
  const tail = [changed(call, look), call.ms === undefined ? '' : duration(call.ms)].filter((part) => part !== '')
  const end = tail.length > 0 ? ` · ${tail.join(' · ')}` : ''
  const why = call.state === 'failed' ? ` — ${oneLine(call.output, 200)}` : ''
  const room = Math.max(8, width - 4 - visibleWidth(end))
  const tool = oneLine(call.tool, 60)
  const words = truncateToWidth(`${tool} ${brief(call.input)}${why}`.trimEnd(), room, '…')
  const rest = words.startsWith(tool) ? `${tool}${theme.quiet(words.slice(tool.length))}` : words
  return `  ${paint(marks[call.state])} ${rest}${theme.quiet(end)}`
}

function changed(call: Call, look: Look): string {
  const counts = call.changes.map((change) => countsOf(change, look)).filter((count) => count !== undefined)
  if (counts.length === 0) return ''
  return lineCounts({
    added: counts.reduce((sum, { added }) => sum + added, 0),
    removed: counts.reduce((sum, { removed }) => sum + removed, 0),
  })
}

function bodyLines(call: Call, width: number, look: Look): string[] {
  const { theme } = look
  const body = (text: string) => {
    const { text: shown, rest } = bounded(text, 0, mostOpened)
    const lines = wrapped(shown, width)
    return (rest ? [...lines, rest] : lines).map(theme.quiet)
  }
  const edits = call.changes.flatMap((change) => [
    theme.strong(oneLine(change.path)),
    ...changeLines(change, width, look),
  ])
  const output = harmless(call.output).trimEnd()
  return [
    ...(edits.length > 0 ? edits : body(inFull(call.input))),
    ...(output === '' ? [] : [theme.quiet('⎯⎯'), ...body(output)]),
  ]
}
