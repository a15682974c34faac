import type { AgentRow, Block, BoardBlock, RowState } from '../block.ts'
import type { RenderContext } from '../markdown/render-context.ts'
import type { Theme } from '../../style/theme.ts'
import { toolWords } from '../../../core/data/tool-words.ts'
import { keyOf } from '../../desk/keys.ts'
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { roleLabel } from '../../../core/talk/framework.ts'
import { failureSentence } from '../../../core/talk/outcome.ts'
import { isAtWork } from '../agent-rows.ts'
import { duration, elapsed, tokens } from '../../style/numbers.ts'
import { inputSummary } from '../call-input.ts'
import { oneLine, safeText } from '../../style/safe-text.ts'
import { fitToWidth } from '../../style/widgets.ts'

/** The widths of the columns of a board: the least and the most for `role` and `agent`, from the total width `from` on. */
const widths = { role: [20, 28], agent: [8, 16], from: 60 } as const

/** The column widths that all rows of a board share. */
export type RowColumns = { role: number; agent: number }

/** Returns columns that are wide enough for all rows, so that no row moves when others are scrolled into view. */
export function columnsOf(rows: readonly AgentRow[]): RowColumns {
  const widest = (words: readonly string[], [least, most]: readonly [number, number]) =>
    Math.min(
      most,
      words.reduce((width, word) => Math.max(width, visibleWidth(word)), least),
    )
  return { role: widest(rows.map(roleOf), widths.role), agent: widest(rows.map(agentOf), widths.agent) }
}

const roleOf = ({ role }: AgentRow) => oneLine(roleLabel(role), 60)
const agentOf = ({ by }: AgentRow) => (by === undefined ? '' : oneLine(by, 30))

/** How many rows of a board the conversation shows. The board's panel shows all of them. */
const mostRows = 6

const marks: Record<RowState, string> = {
  waiting: '○',
  working: '◌',
  asking: '?',
  done: '✓',
  partial: '◐',
  failed: '✗',
  stopped: '■',
}

/** The states as text. A row leaves out `working` and `done`, because its mark says enough. */
export const stateNames: Record<RowState, string> = {
  waiting: 'waits for a free place',
  working: 'working',
  asking: 'asks you',
  done: 'done',
  partial: 'partly done',
  failed: 'failed',
  stopped: 'stopped',
}

export function rowMark(state: RowState, theme: Theme): string {
  const { warn, good, bad, quiet } = theme
  const paint = { waiting: quiet, working: warn, asking: warn, done: good, partial: warn, failed: bad, stopped: quiet }
  return paint[state](marks[state])
}

/**
 * An agent inside a turn in one line: its role, the agent, its state, time and tokens, and its current action or last text. A
 * failure that a row `above` has already is not repeated.
 */
export function rowLine(
  row: AgentRow,
  width: number,
  theme: Theme,
  now: number,
  columns: RowColumns,
  above: readonly AgentRow[] = [],
): string {
  const who = row.by
  const fitted = (word: string, to: number) =>
    width < widths.from ? truncateToWidth(word, Math.max(8, width >> 1), '…') : fitToWidth(word, to)
  const role = fitted(roleOf(row), columns.role)
  const agent = who === undefined ? '' : theme.speaker(who)(fitted(agentOf(row), columns.agent))
  const head = [`  ${rowMark(row.state, theme)} ${role}`, agent].filter((word) => word !== '').join('  ')
  const room = Math.max(0, width - visibleWidth(head) - 2)
  return `${head}  ${theme.quiet(truncateToWidth(rowWords(row, now, above).join(' · '), room, '…'))}`
}

/** The state of a row, its time, its tokens, and its agent's current action or last text. */
function rowWords(row: AgentRow, now: number, above: readonly AgentRow[]): string[] {
  const words = said(row)
  const isTold = row.state === 'failed' && above.some((one) => one.state === 'failed' && said(one) === words)
  return [...rowNumbers(row, now), isTold ? 'the same failure' : words].filter((word) => word !== '')
}

/** The state of a row as text if its mark is not enough, its time and its tokens. */
export function rowNumbers(row: AgentRow, now: number): string[] {
  const { state, ms, blocks } = row
  const calls = blocks.filter(({ type }) => type === 'call').length
  const isPlain = state === 'working' || state === 'done' || (state === 'failed' && said(row) !== '')
  return [
    isPlain ? '' : stateNames[state],
    ms === undefined ? (isAtWork(row) ? elapsed(now - row.since) : '') : duration(ms),
    row.tokens === undefined
      ? calls === 0
        ? ''
        : `${calls} ${calls === 1 ? 'call' : 'calls'}`
      : tokens(row.tokens.used, row.tokens.source),
  ].filter((word) => word !== '')
}

/** The rows of a board that the conversation shows: if there are many, the most urgent ones, in their own order. */
function shownRows(rows: readonly AgentRow[]): { shown: readonly AgentRow[]; more: readonly AgentRow[] } {
  // One line about the others takes as much space as one more row.
  if (rows.length <= mostRows + 1) return { shown: rows, more: [] }
  const chosen = new Set(rows.toSorted((a, b) => urgency[a.state] - urgency[b.state]).slice(0, mostRows))
  return { shown: rows.filter((row) => chosen.has(row)), more: rows.filter((row) => !chosen.has(row)) }
}

const urgency: Record<RowState, number> = {
  asking: 0,
  working: 1,
  failed: 2,
  partial: 3,
  stopped: 4,
  waiting: 5,
  done: 6,
}

const countNames: readonly [RowState, string][] = [
  ['asking', 'asking'],
  ['working', 'working'],
  ['waiting', 'waiting'],
  ['done', 'done'],
  ['partial', 'partly done'],
  ['failed', 'failed'],
  ['stopped', 'stopped'],
]

/** How many rows are in each state: `2 working, 1 done`. */
export function countWords(rows: readonly AgentRow[]): string {
  return countNames
    .map(([state, name]) => ({ count: rows.filter((row) => row.state === state).length, name }))
    .filter(({ count }) => count > 0)
    .map(({ count, name }) => `${count} ${name}`)
    .join(', ')
}

/** The lines of a board. `keys`: the row that each line belongs to, or the board itself for the line about the other rows. */
type BoardLines = { lines: string[]; keys: number[] }

/** `isOpen`: whether a row shows everything that its agent did, and whether the board shows all its rows. */
export function boardLines(
  board: BoardBlock,
  width: number,
  { theme, now }: RenderContext,
  isOpen: (key: number) => boolean,
  inside: (row: AgentRow) => readonly string[],
): BoardLines {
  const columns = columnsOf(board.rows)
  const { shown, more } = isOpen(board.key) ? { shown: board.rows, more: [] } : shownRows(board.rows)
  const lines: string[] = []
  const keys: number[] = []
  for (const [at, row] of shown.entries()) {
    lines.push(rowLine(row, width, theme, now(), columns, shown.slice(0, at)))
    if (isOpen(row.key)) lines.push(...inside(row))
    while (keys.length < lines.length) keys.push(row.key)
  }
  if (more.length > 0) {
    lines.push(theme.quiet(`  + ${more.length} more: ${countWords(more)} · ${keyOf('board')} shows all`))
    keys.push(board.key)
  }
  return { lines, keys }
}

function said({ state, blocks }: AgentRow): string {
  const error = blocks.find((block) => block.type === 'error')
  if (error?.type === 'error') return oneLine(error.failure.message, 200)
  if (state === 'waiting') return ''
  if (state === 'working' || state === 'asking') return doing(blocks.at(-1))
  const last = blocks.findLast((block) => block.type === 'reply')
  return last?.type === 'reply' ? answerSummary(last.text) : ''
}

/** The last thing that an agent at work did. */
function doing(last: Block | undefined): string {
  switch (last?.type) {
    case 'reply':
    case 'thought':
      return latestWords(last.text)
    case 'call':
      return `${oneLine(toolWords(last.tool), 60)} ${inputSummary(last.input)}`.trimEnd()
    case 'attempt':
      return oneLine(failureSentence(last.by ?? 'the agent', last.failure), 200)
    default:
      return ''
  }
}

/** The most informative fields of a JSON answer, by the names that agents are asked to use. */
const tellingFields = ['what_was_done', 'name', 'summary', 'cause', 'task', 'why']

/** An answer in one line: the summary from its JSON if there is any, otherwise its first line. */
export function answerSummary(text: string): string {
  const told = nameIn(jsonIn(text), 4)
  return oneLine(told === '' ? (text.split('\n').find((line) => line.trim() !== '') ?? '') : told, 200)
}

/** The newest words of an answer that is still being written, without JSON punctuation and screen frames. */
export function latestWords(text: string): string {
  const line = text.split('\n').findLast((each) => /\p{L}/u.test(each)) ?? ''
  // Control sequences are removed first: without their brackets they would look like words.
  return oneLine(safeText(line.slice(-400)).replaceAll(/[{}[\]"`│╭╮╰╯─]+/g, ' '), 400).replaceAll(/ ([,:])/g, '$1')
}

function jsonIn(text: string): unknown {
  const fenced = [...text.matchAll(/^ *```(?:json)?[ \t]*\n([^]*?)\n *```/gm)].at(-1)?.[1]
  try {
    return JSON.parse(fenced ?? text)
  } catch {
    return undefined
  }
}

/** The name of an object, or the names in a list. */
function nameIn(value: unknown, depth: number): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth === 0) return ''
  const within = (each: unknown) => nameIn(each, depth - 1)
  if (Array.isArray(value)) return value.slice(0, 12).map(within).filter(Boolean).join(', ')
  const named = tellingFields.map((key) => (value as Record<string, unknown>)[key])
  return [...named, ...Object.values(value)].map(within).find(Boolean) ?? ''
}
