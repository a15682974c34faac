import type { Component, TUI, Terminal, TuiStopOptions } from '@earendil-works/pi-tui'
import type { Theme } from '../theme.ts'
import type { Scroll } from '../transcript/transcript.ts'
import {
  ScrollView,
  Spacer,
  TuiAltScreen,
  TuiMainScreen,
  VStack,
  setCapabilities,
  Container,
} from '@earendil-works/pi-tui'
import { withoutSides, BottomBorder, TopBorder } from '../border.ts'

export type ScreenParts = {
  terminal: Terminal
  altScreen: boolean
  theme: Theme
  title(): readonly string[]
  transcript: Component
  working: Component
  status: Component
  /** How many things came below what is in sight. */
  unseen(): number
  copy(text: string): Promise<string>
}

/** Below this many rows the words need the room of the border. */
const leastRows = 10

/** Who is where on the screen. */
export type ScreenLayout = {
  tui: TUI
  /** The place above the status line: the input, or the card that is open. */
  slot: MeasuredContainer
  scroll?: Scroll
  /** Shows the newest again, and follows it. */
  toEnd(): void
  /** How many rows the transcript has, once the rest of a frame is rendered. */
  height(): number
  /** How many rows the slot can have, with one line of the transcript left. */
  room(): number
  /** A word that goes by itself. */
  flash(words: string): void
  stop(options?: TuiStopOptions): void
}

export function screenLayout(parts: ScreenParts): ScreenLayout {
  // Asking a multiplexer what it can do costs a process; images are never shown, and links are our own business.
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
    // No `openUrl`: a click that only brings the window to the front must not follow an agent's link. The terminal's own way does.
    copySelection: async (text) => (await copy(withoutSides(text))).startsWith('Copied') || 'Not copied',
  })
  const slot = new MeasuredContainer()
  const scroll = new ScrollView(transcript, {
    follow: 'end',
    primary: true,
    scrollbar: 'auto',
    scrollbarTrackStyle: theme.quiet,
    scrollbarThumbStyle: theme.accent,
  })
  const tall = { visible: ({ height }: { height: number }) => height >= leastRows }
  const working = new MeasuredContainer(parts.working)
  tui.setLayoutRoot(
    new VStack([
      { component: new TopBorder(theme, parts.title), basis: 1, shrink: 0, ...tall },
      { component: scroll, basis: 0, grow: 1, minSize: 1 },
      { component: new BottomBorder(theme), basis: 1, shrink: 0, ...tall },
      { component: working, basis: 'auto', shrink: 0 },
      { component: slot, basis: 'auto', shrink: 1, minSize: 1 },
      { component: parts.status, basis: 1, shrink: 0 },
    ]),
  )
  const free = () => terminal.rows - (terminal.rows >= leastRows ? 2 : 0) - working.height - 1
  const height = () => Math.max(1, free() - slot.height)
  return {
    tui,
    slot,
    scroll,
    toEnd: () => scroll.scrollToEnd(),
    height,
    room: () => Math.max(3, free() - 1),
    flash: (words) => tui.flash(words),
    stop: (options) => tui.stop(options),
  }
}

/** In the normal buffer the terminal scrolls, so nothing stands beside the text. */
function normalBuffer(parts: ScreenParts): ScreenLayout {
  const tui = new TuiMainScreen(parts.terminal)
  const slot = new MeasuredContainer()
  const top = new TopBorder(parts.theme, parts.title)
  for (const component of [top, parts.transcript, parts.working, slot, parts.status]) tui.addChild(component)
  const stop = (options: TuiStopOptions = {}) => {
    // What is left behind is what was said, without the place to type that nobody listens to any more.
    if (!options.preserveScreen) {
      for (const component of [parts.working, slot, parts.status]) tui.removeChild(component)
      // The library blots out the character below the cursor: let it be none.
      tui.addChild(new Spacer(1))
      tui.renderNow()
    }
    tui.stop(options)
  }
  const height = () => parts.terminal.rows
  return { tui, slot, toEnd: () => {}, height, room: () => Math.max(3, height() - 3), flash: () => {}, stop }
}

/** A place for one component, that knows how many rows it took when it was last painted. */
export class MeasuredContainer extends Container {
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
