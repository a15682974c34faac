import type { CallBlock } from '../block.ts'
import type { Theme } from '../../style/theme.ts'
import type { RenderContext } from '../markdown/render-context.ts'
import type { DiffLine } from '../../style/diff-lines.ts'
import type { FileChange } from '../../../core/talk/entry.ts'
import { keyOf } from '../../desk/keys.ts'
import { toolWords } from '../../../core/data/tool-words.ts'
import { handoffLines } from '../handoff-lines.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { duration, lineCounts } from '../../style/numbers.ts'
import { inputSummary, inputText } from '../call-input.ts'
import { bounded, safeText, oneLine } from '../../style/safe-text.ts'
import { indented, wrapped } from '../../style/screen-text.ts'
import { diffRows } from '../../style/diff-rows.ts'

const marks = { running: '◌', ok: '✓', failed: '✗', stopped: '■' } as const

/** The mark of a call or a consultation, coloured by its state. */
export function stateMark(state: CallBlock['state'], theme: Theme): string {
  const paint = { running: theme.warn, ok: theme.good, failed: theme.bad, stopped: theme.quiet }[state]
  return paint(marks[state])
}

/** Characters of an input or an output that an open call shows. */
const mostOpened = 8000

/** A call of a tool: one line and the beginning of its changes, which expand to the whole input and output. */
export function callLines(call: CallBlock, width: number, context: RenderContext, open: boolean): string[] {
  const body = open ? bodyLines(call, width - 4, context) : context.brief ? [] : changesBegun(call, width - 4, context)
  return [headLine(call, width, context), ...indented(body, '    ')]
}

/** Rows of its changes that a folded call shows. */
const mostFoldedRows = 12

/** The first rows of a finished call's changes, with whole lines of the files if possible. */
function changesBegun(call: CallBlock, width: number, context: RenderContext): string[] {
  if (call.state !== 'ok' || call.changes.some((change) => context.lazy.diff(change) === undefined)) return []
  const rows: string[] = []
  let hidden = 0
  for (const change of call.changes) {
    const lines = context.lazy.diff(change)!
    const full = rows.length >= mostFoldedRows
    if (!full && call.changes.length > 1) rows.push(context.theme.strong(oneLine(changeTitle(change))))
    const drawn = full ? [] : rowsOf(change, lines.slice(0, mostFoldedRows), width, context)
    let shown = 0
    for (const more of drawn) {
      if (shown > 0 && rows.length + more.length > mostFoldedRows) break
      rows.push(...more.slice(0, mostFoldedRows))
      shown++
    }
    hidden += lines.length - shown
  }
  const words = `… ${hidden} more ${hidden === 1 ? 'line' : 'lines'}; ${keyOf('openAll')} shows them`
  return hidden > 0 ? [...rows, context.theme.quiet(words)] : rows
}

function rowsOf(
  change: FileChange,
  lines: readonly DiffLine[],
  width: number,
  { theme, lazy }: RenderContext,
): string[][] {
  const cut = lines.map((line) => ({ ...line, text: line.text.slice(0, 2000) }))
  return diffRows(cut, width, { theme, path: change.path, colour: lazy.colour() })
}

function headLine(call: CallBlock, width: number, context: RenderContext): string {
  const { theme } = context
  const time = call.ms === undefined ? '' : duration(call.ms)
  const tail = [changed(call, context), errorCount(call), time].filter((part) => part !== '')
  const end = tail.length > 0 ? ` · ${tail.join(' · ')}` : ''
  const why = call.state === 'failed' ? ` — ${oneLine(call.output, 200)}` : ''
  const room = Math.max(8, width - 4 - visibleWidth(end))
  const tool = oneLine(toolWords(oneLine(call.tool, 200)), 60)
  const words = truncateToWidth(`${tool} ${inputSummary(call.input, context.shorten)}${why}`.trimEnd(), room, '…')
  const rest = words.startsWith(tool) ? `${tool}${theme.quiet(words.slice(tool.length))}` : words
  return `  ${stateMark(call.state, theme)} ${rest}${theme.quiet(end)}`
}

/** The errors that a language server reported after an edit; the open call shows them. */
function errorCount({ errors }: CallBlock): string {
  return errors === undefined ? '' : `${errors} ${errors === 1 ? 'error' : 'errors'}`
}

function changed(call: CallBlock, context: RenderContext): string {
  const counts = call.changes.map((change) => countsOf(change, context)).filter((count) => count !== undefined)
  if (counts.length === 0) return ''
  return lineCounts({
    added: counts.reduce((sum, { added }) => sum + added, 0),
    removed: counts.reduce((sum, { removed }) => sum + removed, 0),
  })
}

function bodyLines(call: CallBlock, width: number, context: RenderContext): string[] {
  const { theme } = context
  const body = (text: string) => {
    const { text: shown, rest } = bounded(text, 0, mostOpened)
    const lines = wrapped(shown, width)
    return (rest ? [...lines, rest] : lines).map(theme.quiet)
  }
  const edits = call.changes.flatMap((change) => [
    theme.strong(oneLine(changeTitle(change))),
    ...changeLines(change, width, context),
  ])
  const output = safeText(handoffLines(call.output) ?? call.output).trimEnd()
  return [
    ...(edits.length > 0 ? edits : body(inputText(call.input))),
    ...(output === '' ? [] : [theme.quiet('⎯⎯'), ...body(output)]),
  ]
}

const changeTitle = ({ path, from, gone }: FileChange) =>
  from !== undefined ? `${from} → ${path}` : gone ? `${path} (deleted)` : path

const mostLines = 400

/** How many lines a change adds and removes; undefined until the diff is computed. */
function countsOf(change: FileChange, context: RenderContext): { added: number; removed: number } | undefined {
  const lines = context.lazy.diff(change)
  if (!lines) return undefined
  const count = (type: 'added' | 'removed') => lines.filter((line) => line.type === type).length
  return { added: count('added'), removed: count('removed') }
}

/** The diff of one changed file, in colours. */
function changeLines(change: FileChange, width: number, context: RenderContext): string[] {
  const { theme } = context
  const lines = context.lazy.diff(change)
  if (!lines) return [theme.quiet('…')]
  const shown = rowsOf(change, lines.slice(0, mostLines), width, context).flat()
  const more = lines.length - mostLines
  return more > 0 ? [...shown, theme.quiet(`… ${more} more lines; /diff shows all`)] : shown
}
