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
import { hasSides, withoutSides, BottomBorder, TopBorder } from '../style/border.ts'

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
  /** Whether a card is open that needs the space of the borders. */
  reading(): boolean
  copy(text: string): Promise<string>
}

/** Lines that are visible both before and after a page of the transcript. */
const sharedLines = 4

/** With fewer rows there is no border, because the text needs its space. */
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
  /** How many rows the input area may have if one line of the transcript remains; `wholeRoom` counts the rows of the borders too. */
  room(): number
  wholeRoom(): number
  /**
   * How many rows and columns are between the edges of the screen and the inside of the transcript's frame; 0 in the normal buffer,
   * because there the frame scrolls away.
   */
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
    copySelection: async (text) => (await copy(withoutSides(text))).startsWith('Copied') || 'Not copied',
  })
  const inputArea = new MeasuredContainer()
  const scroll = new ScrollView(transcript, {
    follow: 'end',
    primary: true,
    scrollbar: 'auto',
    scrollbarTrackStyle: theme.quiet,
    scrollbarThumbStyle: theme.accent,
  })
  const isFramed = () => terminal.rows >= leastRows && !parts.reading()
  keepFrameBesideFlashes(tui, theme, isFramed)
  const tall = { visible: () => isFramed() }
  const working = new MeasuredContainer(parts.working)
  const board = new MeasuredContainer(parts.board)
  tui.setLayoutRoot(
    new VStack([
      { component: new TopBorder(theme, parts.title), basis: 1, shrink: 0, ...tall },
      { component: scroll, basis: 0, grow: 1, minSize: 1 },
      { component: new BottomBorder(theme), basis: 1, shrink: 0, ...tall },
      { component: board, basis: 'auto', shrink: 0 },
      { component: working, basis: 'auto', shrink: 0 },
      { component: inputArea, basis: 'auto', shrink: 1, minSize: 1 },
      { component: parts.status, basis: 1, shrink: 0 },
    ]),
  )
  const whole = () => terminal.rows - working.height - board.height - 1
  const borders = () => (terminal.rows >= leastRows ? 2 : 0)
  const height = () => Math.max(1, whole() - (parts.reading() ? 0 : borders()) - inputArea.height)
  return {
    tui,
    inputArea,
    scroll,
    toEnd: () => scroll.scrollToEnd(),
    page: (by) => tui.scrollBy(by * Math.max(1, scroll.viewportHeight - sharedLines)),
    height,
    room: () => Math.max(3, whole() - borders() - 1),
    wholeRoom: () => Math.max(3, whole() - 1),
    margin: () => {
      const border = isFramed() ? 1 : 0
      return { top: border, bottom: terminal.rows - whole() + inputArea.height + border, sides: 2 }
    },
    flash: (words) => tui.flash(words),
    stop: () => tui.stop({ preserveScreen: true }),
    resume: () => {
      tui.start()
      tui.requestRender(true)
    },
  }
}

/** The library shows messages in the upper right corner for a moment; this continues the frame beside them. */
function keepFrameBesideFlashes(tui: TuiAltScreen, theme: Theme, isFramed: () => boolean): void {
  const { flashes } = tui as unknown as { flashes: Component }
  const render = flashes.render.bind(flashes)
  flashes.render = (width) => {
    if (!isFramed() || !hasSides(width)) return render(width)
    return render(width - 2).map((line, row) => line + theme.accent(row === 0 ? '─╮' : ' │'))
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

/** In the normal buffer the terminal itself scrolls, so the text has no borders at its sides. */
function normalBuffer(parts: ScreenParts): ScreenLayout {
  const tui = new TuiMainScreen(parts.terminal)
  const inputArea = new MeasuredContainer()
  const top = new TopBorder(parts.theme, parts.title, { sides: false })
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
    margin: () => ({ top: 0, bottom: 0, sides: 0 }),
    flash: () => {},
    stop,
    resume,
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
