import type { Component, Focusable, TUI, TuiMouseEvent, TuiMouseEventResult } from '@earendil-works/pi-tui'
import type { Theme } from './style/theme.ts'
import { visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui'
import { PasteReader } from './input/paste.ts'
import { actionOf, keySections } from './desk/keys.ts'
import { Overlay } from './screen/overlay.ts'
import { insideOf, ruled } from './style/widgets.ts'

/** A description beside its keys has at least this many columns; with fewer it is placed below them. */
const leastWords = 30
const widestKeys = 22

/** The page of keys as lines: for each state of the screen, a title and what each key does. */
export function keyLines(width: number, theme: Theme): string[] {
  const sections = keySections()
  const widest = Math.max(...sections.flatMap(({ rows }) => rows.map(({ keys }) => visibleWidth(keys))))
  const column = Math.min(widestKeys, widest)
  const row = ({ keys, does }: { keys: string; does: string }) => {
    const beside = width - column - 4
    const below = beside < leastWords || visibleWidth(keys) > column
    const words = wrapTextWithAnsi(does, Math.max(1, below ? width - 4 : beside))
    if (below)
      return [
        ...wrapTextWithAnsi(keys, width - 2).map((line) => `  ${theme.strong(line)}`),
        ...words.map((line) => `    ${line}`),
      ]
    const margin = ' '.repeat(column + 4)
    return words.map((line, at) =>
      at === 0 ? `  ${theme.strong(keys)}${' '.repeat(column - visibleWidth(keys) + 2)}${line}` : margin + line,
    )
  }
  return sections.flatMap(({ title, rows }, at) => [
    ...(at > 0 ? [''] : []),
    ...wrapTextWithAnsi(title, width).map(theme.accent),
    ...rows.flatMap(row),
  ])
}

type PageParts = {
  theme: Theme
  /** How many lines of the page are in sight. */
  lines(): number
  close(): void
}

/** Every key and what it does, to scroll through. */
export class KeysPage implements Component, Focusable {
  focused = false
  #parts: PageParts
  #pastes = new PasteReader()
  #top = 0
  #count = 0

  constructor(parts: PageParts) {
    this.#parts = parts
  }

  invalidate(): void {}

  handleInput(data: string): void {
    for (const { type, text } of this.#pastes.read(data)) if (type === 'key') this.#key(text)
  }

  #key(data: string): void {
    const page = Math.max(1, this.#parts.lines() - 1)
    const action = actionOf('page', data)
    if (action === 'close') return this.#parts.close()
    if (action === undefined) return
    this.#scroll({ up: -1, down: 1, pageUp: -page, pageDown: page, top: -Infinity, bottom: Infinity }[action])
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type !== 'wheel' || !event.wheelDelta) return undefined
    this.#scroll(3 * Math.sign(event.wheelDelta))
    return { handled: true, focus: true }
  }

  #scroll(by: number): void {
    this.#top = Math.max(0, Math.min(this.#top + by, this.#count - this.#parts.lines()))
  }

  render(width: number): string[] {
    const { theme } = this.#parts
    const inside = insideOf(width)
    const all = keyLines(inside, theme)
    this.#count = all.length
    this.#scroll(0)
    const shown = all.slice(this.#top, this.#top + this.#parts.lines())
    const below = all.length - this.#top - shown.length
    const place =
      shown.length < all.length ? [below > 0 ? `${below} more lines` : 'the end', 'Up, Down, PgUp, PgDn scroll'] : []
    const foot = [...place, 'Esc closes'].join(' · ')
    return ruled(shown, width, theme.accent, { title: theme.strong('Keys'), foot: theme.quiet(foot) })
  }
}

type OverlayParts = { tui: TUI; theme: Theme; closed(): void; broken(error: unknown): void }

/** The title, and the line of the page's own keys. */
const edges = 2

/** Shows the page of keys over the whole screen. */
export class KeysOverlay {
  #parts: OverlayParts
  #overlay: Overlay

  constructor(parts: OverlayParts) {
    this.#parts = parts
    this.#overlay = new Overlay(parts)
  }

  open(): void {
    if (this.#overlay.isOpen) return
    const { tui, theme } = this.#parts
    const lines = () => Math.max(1, tui.terminal.rows - edges)
    const page = new KeysPage({ theme, lines, close: () => this.#overlay.close() })
    this.#overlay.show(page, { maxHeight: '100%' })
  }
}
