import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult, TUI } from '@earendil-works/pi-tui'
import type { Command } from '../core/talk/command.ts'
import type { ScreenMargin } from './screen/overlay.ts'
import type { Theme } from './style/theme.ts'
import type { Choice } from './style/widgets.ts'
import { PasteReader } from './input/paste.ts'
import { actionOf } from './desk/keys.ts'
import { ChoiceList, insideOf, ruled, TextField } from './style/widgets.ts'
import { commandUsage, findCommands } from './desk/command-search.ts'
import { aboveInput, Overlay } from './screen/overlay.ts'

type PaletteParts = {
  theme: Theme
  commands: readonly Command[]
  query: string
  /** How many lines the commands may take; a letter or an arrow key brings up the others. */
  lines(): number
  pick(command: Command): void
  showKeys(): void
  close(): void
}

const prompt = '/'
/** The title, and the line to type in. */
const linesAbove = 2

/** All commands, to be found by a few letters. */
export class Palette implements Component, Focusable {
  #parts: PaletteParts
  #line: TextField
  #pastes = new PasteReader()
  #choices: ChoiceList<Choice & { command: Command }>

  constructor(parts: PaletteParts) {
    this.#parts = parts
    this.#line = new TextField({ text: parts.query })
    this.#choices = new ChoiceList(parts.theme)
    this.#find()
  }

  get focused(): boolean {
    return this.#line.focused
  }

  set focused(focused: boolean) {
    this.#line.focused = focused
  }

  invalidate(): void {}

  handleInput(data: string): void {
    for (const { type, text } of this.#pastes.read(data)) {
      if (type === 'key') this.#key(text)
      else this.#write(() => this.#line.insert(text))
    }
  }

  #key(data: string): void {
    const action = actionOf('palette', data)
    if (action === 'close') return this.#parts.close()
    if (action === 'pick') return this.#pick(this.#choices.chosen)
    if (action === 'up' || action === 'down') return this.#choices.move(action === 'up' ? -1 : 1)
    if (action === 'keys' && this.#line.text === '') return this.#parts.showKeys()
    this.#write(() => this.#line.handleInput(data))
  }

  #write(work: () => void): void {
    const before = this.#line.text
    work()
    if (this.#line.text !== before) this.#find()
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type === 'wheel' && event.wheelDelta) this.#choices.move(Math.sign(event.wheelDelta))
    else if (event.type === 'click' && event.button === 'left' && event.y >= linesAbove)
      this.#pick(this.#choices.point(event.y - linesAbove))
    else return undefined
    return { handled: true, focus: true }
  }

  #pick(choice: { command: Command } | undefined): void {
    if (choice) this.#parts.pick(choice.command)
  }

  #find(): void {
    const query = this.#line.text.replace(/^\//, '')
    const found = findCommands(this.#parts.commands, query)
    this.#choices.set(found.map((command) => ({ command, label: commandUsage(command), help: command.help })))
  }

  render(width: number): string[] {
    const { theme } = this.#parts
    const inside = insideOf(width)
    const rows = this.#choices.render(inside, this.#parts.lines())
    const place = this.#choices.place()
    const lines = [
      theme.accent(prompt) + this.#line.render(Math.max(1, inside - prompt.length)),
      ...(rows.length > 0 ? rows : [theme.quiet('  No command matches; Esc closes.')]),
    ]
    const foot = [...(place ? [place] : []), 'Enter picks', '? keys', 'Esc closes'].join(' · ')
    return ruled(lines, width, theme.accent, { title: theme.strong('Commands'), foot: theme.quiet(foot) })
  }
}

type OverlayParts = {
  tui: TUI
  theme: Theme
  commands(): readonly Command[]
  pick(command: Command): void
  showKeys(): void
  /** How many rows are above and below the transcript. */
  margin(): ScreenMargin
  closed(): void
  broken(error: unknown): void
}

/** The lines of the palette that are not commands, and the most lines of commands. */
const chrome = linesAbove + 1
const mostLines = 24

/** Shows the palette over the transcript, one at a time. */
export class PaletteOverlay {
  #parts: OverlayParts
  #overlay: Overlay

  constructor(parts: OverlayParts) {
    this.#parts = parts
    this.#overlay = new Overlay(parts)
  }

  open(query: string): void {
    this.close()
    const { tui, theme, commands, pick, showKeys } = this.#parts
    const closing = (work: () => void) => {
      this.close()
      work()
    }
    const place = aboveInput(tui, this.#parts.margin)
    const palette = new Palette({
      theme,
      commands: commands(),
      query,
      lines: () => Math.max(3, Math.min(mostLines, place.height() - chrome)),
      pick: (command) => closing(() => pick(command)),
      showKeys: () => closing(showKeys),
      close: () => this.close(),
    })
    this.#overlay.show(palette, place)
  }

  close(): void {
    this.#overlay.close()
  }
}
