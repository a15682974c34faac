import type { Component, TUI, Terminal } from '@earendil-works/pi-tui'
import type { Theme } from '../style/theme.ts'
import type { ScreenMargin } from './overlay.ts'
import type { Scroll } from '../transcript/blocks/transcript-view.ts'
import {
  ScrollView,
  Spacer,
  TuiAltScreen,
  TuiMainScreen,
  VStack,
  setCapabilities,
  Container,
} from '@earendil-works/pi-tui'
import { oneLine } from '../style/safe-text.ts'
import { rule } from '../style/widgets.ts'

type ScreenParts = {
  terminal: Terminal
  altScreen: boolean
  theme: Theme
  title(): readonly string[]
  transcript: Component
  /** The agents that work inside the turn, while they are shown. */
  board: Component
  working: Component
  status: Component
  /** How many blocks were added below the visible lines. */
  unseen(): number
  /** Whether a card is open that needs the space of the title. */
  reading(): boolean
  copy(text: string): Promise<string>
}

/** Lines that are visible both before and after a page of the transcript. */
const sharedLines = 4

/** With fewer rows there is no title, because the text needs its space. */
const leastRows = 10

/** The parts of the screen and their places. */
export type ScreenLayout = {
  tui: TUI
  /** The area above the status line: the input, or the card that is open. */
  inputArea: MeasuredContainer
  scroll?: Scroll
  /** Scrolls to the newest line, and follows it. */
  toEnd(): void
  /** Scrolls the transcript by a page. */
  page(by: 1 | -1): void
  /** How many rows remain for the transcript once the other parts are rendered. */
  height(): number
  /** How many rows the input area may have if one line of the transcript remains; `wholeRoom` counts the row of the title too. */
  room(): number
  wholeRoom(): number
  /** How many rows are above and below the transcript; 0 in the normal buffer, because there the title scrolls away. */
  margin(): ScreenMargin
  /** Shows a message for a moment. */
  flash(words: string): void
  /** Releases the terminal. `torn` if other programs wrote into the frame, so that the position of the cursor is unknown. */
  stop(torn?: 'torn'): void
  /** Takes the terminal again after `stop`, and paints everything again. */
  resume(): void
}

export function screenLayout(parts: ScreenParts): ScreenLayout {
  // Asking a multiplexer for its capabilities costs a process; images are never shown, and `canLink` decides about links.
  setCapabilities({ images: null, trueColor: false, hyperlinks: false })
  return parts.altScreen ? wholeScreen(parts) : normalBuffer(parts)
}

function wholeScreen(parts: ScreenParts): ScreenLayout {
  const { terminal, theme, transcript, unseen, copy } = parts
  const tui = new TuiAltScreen(terminal, false, undefined, {
    wheelScrollLines: 3,
    searchCurrentMatchStyle: theme.chosen,
    scrollToEndIndicator: () => {
      const count = unseen()
      return theme.chosen(count > 0 ? ` ↓ ${count} more below · Ctrl+End ` : ' ↓ Ctrl+End ')
    },
    // No `openUrl`: a click that only brings the window to the front must not follow an agent's link. The terminal has its own way to
    // open links.
    copySelection: async (text) => (await copy(text)).startsWith('Copied') || 'Not copied',
  })
  const inputArea = new MeasuredContainer()
  const scroll = new ScrollView(transcript, {
    follow: 'end',
    primary: true,
    scrollbar: 'auto',
    scrollbarTrackStyle: theme.quiet,
    scrollbarThumbStyle: theme.accent,
  })
  const isTitled = () => terminal.rows >= leastRows && !parts.reading()
  const working = new MeasuredContainer(parts.working)
  const board = new MeasuredContainer(parts.board)
  tui.setLayoutRoot(
    new VStack([
      { component: new TitleRule(theme, parts.title), basis: 1, shrink: 0, visible: isTitled },
      { component: scroll, basis: 0, grow: 1, minSize: 1 },
      { component: board, basis: 'auto', shrink: 0 },
      { component: working, basis: 'auto', shrink: 0 },
      { component: inputArea, basis: 'auto', shrink: 1, minSize: 1 },
      { component: parts.status, basis: 1, shrink: 0 },
    ]),
  )
  const whole = () => terminal.rows - working.height - board.height - 1
  const height = () => Math.max(1, whole() - (isTitled() ? 1 : 0) - inputArea.height)
  return {
    tui,
    inputArea,
    scroll,
    toEnd: () => scroll.scrollToEnd(),
    page: (by) => tui.scrollBy(by * Math.max(1, scroll.viewportHeight - sharedLines)),
    height,
    room: () => Math.max(3, whole() - (terminal.rows >= leastRows ? 1 : 0) - 1),
    wholeRoom: () => Math.max(3, whole() - 1),
    margin: () => ({ top: isTitled() ? 1 : 0, bottom: terminal.rows - whole() + inputArea.height }),
    flash: (words) => tui.flash(words),
    stop: () => tui.stop({ preserveScreen: true }),
    resume: () => {
      tui.start()
      tui.requestRender(true)
    },
  }
}

/** The state of a frame that is not drawn yet: the next frame is drawn from the cursor on and clears nothing above it. */
const undrawn = {
  previousLines: [],
  previousWidth: 0,
  previousHeight: 0,
  cursorRow: 0,
  hardwareCursorRow: 0,
  maxLinesRendered: 0,
  previousViewportTop: 0,
}

/** In the normal buffer the terminal itself scrolls. */
function normalBuffer(parts: ScreenParts): ScreenLayout {
  const tui = new TuiMainScreen(parts.terminal)
  const inputArea = new MeasuredContainer()
  const top = new TitleRule(parts.theme, parts.title)
  const below = [parts.board, parts.working, inputArea, parts.status]
  for (const component of [top, parts.transcript, ...below]) tui.addChild(component)
  const spacer = new Spacer(1)
  const stop = (torn?: 'torn') => {
    if (torn) {
      tui.stop({ preserveScreen: true })
      return parts.terminal.write('\r\n')
    }
    // The conversation stays in the terminal, without an input that no longer works.
    for (const component of below) tui.removeChild(component)
    // The library erases the character at the cursor, so an empty line is added there.
    tui.addChild(spacer)
    tui.renderNow()
    tui.stop()
  }
  const resume = () => {
    for (const component of [spacer, ...below]) tui.removeChild(component)
    for (const component of below) tui.addChild(component)
    // The output of the shell or of an editor stays above the chat.
    tui.restoreRenderState(undrawn)
    tui.start()
  }
  const height = () => parts.terminal.rows
  const room = () => Math.max(3, height() - 3)
  return {
    tui,
    inputArea,
    toEnd: () => {},
    page: () => {},
    height,
    room,
    wholeRoom: room,
    margin: () => ({ top: 0, bottom: 0 }),
    flash: () => {},
    stop,
    resume,
  }
}

/** The rule above the transcript, with its title. */
class TitleRule implements Component {
  #theme: Theme
  #title: () => readonly string[]

  constructor(theme: Theme, title: () => readonly string[]) {
    this.#theme = theme
    this.#title = title
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { accent, strong } = this.#theme
    const words = this.#title().map((word) => oneLine(word, 200))
    return [rule(width, accent, strong(accent(words.join(' · '))))]
  }
}

/** A container that knows how many rows it took when it was last painted. */
class MeasuredContainer extends Container {
  height = 0

  constructor(...children: Component[]) {
    super()
    for (const child of children) this.addChild(child)
  }

  override render(width: number): string[] {
    const lines = super.render(width)
    this.height = lines.length
    return lines
  }
}
