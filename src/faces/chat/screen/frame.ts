import type { Component, TUI, Terminal, TuiStopOptions } from '@earendil-works/pi-tui'
import type { Theme } from '../theme/theme.ts'
import type { Scroll } from '../transcript/transcript.ts'
import {
  Container,
  HStack,
  ScrollView,
  TuiAltScreen,
  TuiMainScreen,
  VStack,
  setCapabilities,
} from '@earendil-works/pi-tui'
import { BottomBorder, SideBorder, TopBorder } from './border.ts'

export type FrameParts = {
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

/** Below this many rows or columns the words need the room of the border. */
const [leastRows, leastColumns] = [10, 24]

/** Who is where on the screen. */
export type Frame = {
  tui: TUI
  /** The place above the status line: the input, or the card that is open. */
  slot: Container
  scroll?: Scroll
  /** A word that goes by itself. */
  flash(words: string): void
  stop(options?: TuiStopOptions): void
}

export function frameOf(parts: FrameParts): Frame {
  // Asking a multiplexer what it can do costs a process; images are never shown, and links are our own business.
  setCapabilities({ images: null, trueColor: false, hyperlinks: false })
  return parts.altScreen ? wholeScreen(parts) : normalBuffer(parts)
}

function wholeScreen(parts: FrameParts): Frame {
  const { terminal, theme, transcript, unseen, copy } = parts
  const tui = new TuiAltScreen(terminal, false, undefined, {
    wheelScrollLines: 3,
    searchCurrentMatchStyle: theme.chosen,
    scrollToEndIndicator: () => {
      const count = unseen()
      return theme.chosen(count > 0 ? ` ↓ ${count} more below · Ctrl+End ` : ' ↓ Ctrl+End ')
    },
    copySelection: async (text) => (await copy(text)).startsWith('Copied') || 'Not copied',
  })
  const slot = new Container()
  const scroll = new ScrollView(transcript, {
    follow: 'end',
    primary: true,
    scrollbar: 'auto',
    scrollbarTrackStyle: theme.quiet,
    scrollbarThumbStyle: theme.accent,
  })
  const tall = { visible: ({ height }: { height: number }) => height >= leastRows }
  const wide = { visible: ({ width }: { width: number }) => width >= leastColumns }
  const side = (edge: '│ ' | '│') => ({
    component: new SideBorder(theme, edge, () => terminal.rows),
    basis: edge.length,
    shrink: 0,
    ...wide,
  })
  tui.setLayoutRoot(
    new VStack([
      { component: new TopBorder(theme, parts.title), basis: 1, shrink: 0, ...tall },
      {
        component: new HStack([side('│ '), { component: scroll, basis: 0, grow: 1, minSize: 1 }, side('│')]),
        basis: 0,
        grow: 1,
        minSize: 1,
      },
      { component: new BottomBorder(theme), basis: 1, shrink: 0, ...tall },
      { component: parts.working, basis: 'auto', shrink: 0 },
      { component: slot, basis: 'auto', shrink: 1, minSize: 1 },
      { component: parts.status, basis: 1, shrink: 0 },
    ]),
  )
  return { tui, slot, scroll, flash: (words) => tui.flash(words), stop: (options) => tui.stop(options) }
}

/** In the normal buffer the terminal scrolls, so nothing stands beside the text. */
function normalBuffer(parts: FrameParts): Frame {
  const tui = new TuiMainScreen(parts.terminal)
  const slot = new Container()
  for (const component of [
    new TopBorder(parts.theme, parts.title),
    parts.transcript,
    parts.working,
    slot,
    parts.status,
  ])
    tui.addChild(component)
  return { tui, slot, flash: () => {}, stop: (options) => tui.stop(options) }
}
