import type { Paint, Theme } from '../../chat/style/theme.ts'
import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { elapsed } from '../../chat/style/numbers.ts'
import { fitToWidth } from '../../chat/style/widgets.ts'

/** One agent of the crew, as the watch shows it. */
export type WatchedSlot = {
  id: number
  agent: string
  state: 'held' | 'starting' | 'busy' | 'idle' | 'asking' | 'exited' | 'failed'
  since: number
  /** The newest prompt of the agent. */
  prompt: string
  /** The reason for the state, or the question that waits for a person. */
  note?: string
  /** The dangerous parts of the action in the agent's question. */
  dangers?: readonly string[]
  /** The last rows of the agent's terminal. */
  rows: readonly string[]
}

export type WatchView = {
  workspace: string
  slots: readonly WatchedSlot[]
  /** A problem that the person should know about, such as a keeper that has stopped. */
  trouble?: string
  selected: number | undefined
  zoomed: boolean
}

type WatchSize = { columns: number; rows: number }

/** The least width and height of a tile; tiles that do not fit are reached by scrolling. */
const leastWidth = 38
const leastHeight = 5
/** A wider tile would be mostly empty. */
const mostWidth = 120
/** A tile of this height shows enough of its terminal, so no more columns are made. */
const goodHeight = 8

const marks: Record<WatchedSlot['state'], string> = {
  held: '…',
  starting: '◌',
  busy: '●',
  idle: '○',
  asking: '?',
  exited: '×',
  failed: '✗',
}

/** Draws the whole screen: exactly `rows` lines of exactly `columns` columns. */
export function watchFrame(view: WatchView, size: WatchSize, theme: Theme, now: number): string[] {
  const { columns, rows } = size
  const head = headLine(view, size, theme)
  const foot = theme.quiet(fitToWidth(keyWords(view), columns))
  const body = bodyLines(view, { columns, rows: Math.max(0, rows - 2) }, theme, now)
  return [head, ...body, foot].slice(0, rows)
}

function headLine(view: WatchView, { columns, rows }: WatchSize, theme: Theme): string {
  const { workspace, slots, trouble, zoomed } = view
  if (trouble !== undefined) return theme.warn(fitToWidth(`! ${trouble}`, columns))
  const count = (state: WatchedSlot['state']) => slots.filter((slot) => slot.state === state).length
  const asking = count('asking')
  const facts = [
    `${slots.length} ${slots.length === 1 ? 'agent' : 'agents'}`,
    ...(count('busy') > 0 ? [`${count('busy')} busy`] : []),
    ...(zoomed ? [] : hiddenWords(view, { columns, rows: rows - 2 })),
    ...(asking > 0 ? [theme.warn(`${asking} ${asking === 1 ? 'asks' : 'ask'}`)] : []),
  ]
  return fitToWidth(`${theme.strong(theme.accent('Crew'))} ${workspace} · ${facts.join(' · ')}`, columns)
}

/** Says which tiles are visible if not all of them fit. */
function hiddenWords(view: WatchView, area: WatchSize): string[] {
  const { slots } = view
  const { across, height, first } = layoutOf(view, area)
  const shown = slots.slice(first * across, (first + Math.max(1, Math.floor(area.rows / height))) * across)
  if (shown.length === slots.length || shown.length === 0) return []
  return [`slots ${shown[0]!.id} to ${shown.at(-1)!.id} are shown`]
}

function keyWords({ slots, zoomed }: WatchView): string {
  if (slots.length === 0) return 'q quit'
  return zoomed ? 'Esc all agents · ←→ next · a attach · q quit' : '←↑↓→ select · Enter zoom · a attach · q quit'
}

function bodyLines(view: WatchView, area: WatchSize, theme: Theme, now: number): string[] {
  const { slots, selected, zoomed } = view
  if (slots.length === 0)
    return fillScreen(['', '  No agent is running here. An agent appears here when it starts.'], area)
  const chosen = slots.find(({ id }) => id === selected)
  if (zoomed && chosen) return tile(chosen, area, { theme, now, chosen: true, whole: true })
  const { across, height, first } = layoutOf(view, area)
  const bands = Math.floor(area.rows / height)
  const lines: string[] = []
  for (let band = 0; band < bands; band++) {
    const row = slots.slice((first + band) * across, (first + band + 1) * across)
    if (row.length === 0) break
    const tiles = row.map((slot, at) => {
      const width = widthOf(area.columns, across, at)
      return tile(slot, { columns: width, rows: height }, { theme, now, chosen: slot.id === selected, whole: false })
    })
    for (let at = 0; at < height; at++) lines.push(tiles.map((one) => one[at]!).join(''))
  }
  return fillScreen(lines, area)
}

type WatchLayout = { across: number; height: number; first: number }

/** How many tiles are side by side, how high each is, and the first visible band, so that the selected tile is visible. */
export function layoutOf({ slots, selected }: WatchView, { columns, rows }: WatchSize): WatchLayout {
  const most = Math.max(1, Math.min(slots.length, Math.floor(columns / leastWidth)))
  const heightWith = (across: number) => Math.floor(rows / Math.ceil(slots.length / across))
  const least = Math.min(most, Math.ceil(columns / mostWidth))
  const across =
    Array.from({ length: most - least + 1 }, (_, n) => n + least).find((n) => heightWith(n) >= goodHeight) ?? most
  const height = Math.min(rows, Math.max(leastHeight, heightWith(across)))
  const bands = Math.max(1, Math.floor(rows / Math.max(1, height)))
  const at = Math.floor(
    Math.max(
      0,
      slots.findIndex(({ id }) => id === selected),
    ) / across,
  )
  return { across, height: Math.max(1, height), first: Math.max(0, at - bands + 1) }
}

/** The width of a tile in columns; left-over columns go to the first tiles. */
const widthOf = (columns: number, across: number, at: number) =>
  Math.floor(columns / across) + (at < columns % across ? 1 : 0)

type TileLook = { theme: Theme; now: number; chosen: boolean; whole: boolean }

function tile(slot: WatchedSlot, { columns, rows }: WatchSize, { theme, now, chosen, whole }: TileLook): string[] {
  const { id, agent, state, since, prompt, note, dangers = [] } = slot
  const paint = paintOf(state, theme)
  const time = theme.quiet(elapsed(now - since))
  const mark = chosen ? theme.chosen(` ${id} `) : `${id}`
  const title = `${mark} ${theme.speaker(agent)(agent)} ${paint(`${marks[state]} ${state}`)} ${time}`
  const inside = Math.max(1, columns - boxSides)
  // A single agent has room for the whole text of its question; several agents have one row for each part.
  const rowsOf = (text: string) => (whole ? wrapTextWithAnsi(text, inside) : [fitToWidth(text, inside)])
  const said = [
    ...(prompt === '' ? [] : [theme.quiet(fitToWidth(`› ${prompt}`, inside))]),
    ...(whole ? dangers : dangers.slice(0, 1)).flatMap((words) => rowsOf(`! ${words}`).map(theme.danger)),
    ...(note === undefined || note === '' ? [] : rowsOf(note).map(paint)),
  ]
  const room = Math.max(0, rows - 2 - said.length)
  const shown = slot.rows.slice(-room)
  const gap = Array.from({ length: Math.max(0, room - shown.length) }, () => '')
  const lines = [...said, ...(room === 0 ? [] : shown), ...gap].slice(0, Math.max(0, rows - 2))
  const cut = whole
    ? lines
    : lines.map((line) => (visibleWidth(line) > inside ? truncateToWidth(line, inside, '…') : line))
  return boxed(cut, columns, chosen ? theme.accent : theme.quiet, title).slice(0, rows)
}

/** How many columns the sides of a tile take. */
const boxSides = 4

/** Draws lines in a frame of exactly `width` columns, because tiles are side by side; the title is in the upper edge. */
function boxed(lines: readonly string[], width: number, paint: Paint, title: string): string[] {
  const inside = Math.max(1, width - boxSides)
  const label = width > 10 ? ` ${truncateToWidth(title, width - 6, '…')} ` : ''
  const rest = Math.max(0, width - 3 - visibleWidth(label))
  return [
    `${paint('╭─')}${label}${paint(`${'─'.repeat(rest)}╮`)}`,
    ...lines.map((line) => `${paint('│')} ${fitToWidth(line, inside)} ${paint('│')}`),
    paint(`╰${'─'.repeat(Math.max(0, width - 2))}╯`),
  ]
}

function paintOf(state: WatchedSlot['state'], theme: Theme): Paint {
  if (state === 'asking') return theme.warn
  if (state === 'failed') return theme.bad
  return state === 'busy' || state === 'starting' ? theme.strong : theme.quiet
}

function fillScreen(lines: readonly string[], { columns, rows }: WatchSize): string[] {
  return Array.from({ length: rows }, (_, at) => fitToWidth(lines[at] ?? '', columns))
}
