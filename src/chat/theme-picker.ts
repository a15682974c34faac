import type { Component, Focusable, TuiMouseEvent, TuiMouseEventResult, TUI } from '@earendil-works/pi-tui'
import type { ThemeName } from '../core/talk/themes.ts'
import type { ScreenMargin } from './screen/overlay.ts'
import type { Theme } from './style/theme.ts'
import type { Choice } from './style/widgets.ts'
import { themeMeanings, themeNames } from '../core/talk/themes.ts'
import { actionOf } from './desk/keys.ts'
import { Overlay } from './screen/overlay.ts'
import { ChoiceList, insideOf, ruled } from './style/widgets.ts'

type PickerParts = {
  /** The theme that is shown, which changes with the choice. */
  theme: Theme
  now: ThemeName
  /** How many lines the list may take. */
  lines(): number
  preview(name: ThemeName): void
  done(name?: ThemeName): void
}

/** The rule above the list. */
const linesAbove = 1

/** The list of themes; the whole screen shows the chosen one. */
class ThemePicker implements Component, Focusable {
  focused = false
  #parts: PickerParts
  #choices: ChoiceList<Choice & { name: ThemeName }>

  constructor(parts: PickerParts) {
    this.#parts = parts
    this.#choices = new ChoiceList(parts.theme)
    const label = (name: ThemeName) => (name === parts.now ? `${name} (now)` : name)
    this.#choices.set(themeNames.map((name) => ({ name, label: label(name), help: themeMeanings[name] })))
    this.#choices.move(themeNames.indexOf(parts.now))
  }

  invalidate(): void {}

  handleInput(data: string): void {
    const action = actionOf('themes', data)
    if (action === 'close') return this.#parts.done()
    if (action === 'pick') return this.#parts.done(this.#choices.chosen?.name)
    if (action !== undefined) this.#move(action === 'up' ? -1 : 1)
  }

  #move(by: number): void {
    this.#choices.move(by)
    this.#show()
  }

  #show(): void {
    if (this.#choices.chosen) this.#parts.preview(this.#choices.chosen.name)
  }

  handleMouse(event: TuiMouseEvent): TuiMouseEventResult | undefined {
    if (event.type === 'wheel' && event.wheelDelta) this.#move(Math.sign(event.wheelDelta))
    else if (event.type === 'click' && event.button === 'left' && this.#choices.point(event.y - linesAbove))
      this.#show()
    else return undefined
    return { handled: true, focus: true }
  }

  render(width: number): string[] {
    const { theme, lines } = this.#parts
    const rows = this.#choices.render(insideOf(width), lines() - 1)
    const foot = theme.quiet('Up and Down try a theme · Enter keeps it · Esc goes back')
    return ruled([...rows, sample(theme)], width, theme.accent, { title: theme.strong('Theme'), foot })
  }
}

/** One line with a word for each meaning that a colour has. */
function sample(theme: Theme): string {
  const { good, warn, bad, code, quiet, added, removed, speakers } = theme
  return [
    speakers[0]!('agent'),
    good('✓ done'),
    warn('● waits'),
    bad('✗ failed'),
    added('+ added'),
    removed('- removed'),
    code('code'),
    quiet('less important'),
  ].join('  ')
}

type OverlayParts = {
  tui: TUI
  theme: Theme
  /** How many rows are above and below the transcript. */
  margin(): ScreenMargin
  preview(name: ThemeName): void
  closed(): void
  broken(error: unknown): void
}

/** The rule, the sample and the keys. */
const chrome = 3

/** Shows the list of themes above the input, so that the transcript over it shows each theme. */
export class ThemeOverlay {
  #parts: OverlayParts
  #overlay: Overlay

  constructor(parts: OverlayParts) {
    this.#parts = parts
    this.#overlay = new Overlay(parts)
  }

  get isOpen(): boolean {
    return this.#overlay.isOpen
  }

  /** Resolves with the theme that the person kept; undefined if they went back, or the command was cancelled. */
  pick(now: ThemeName, cancelled: AbortSignal): Promise<ThemeName | undefined> {
    const { tui, theme, margin, preview } = this.#parts
    return new Promise((resolve) => {
      const done = (name?: ThemeName) => {
        cancelled.removeEventListener('abort', cancel)
        this.#overlay.close()
        preview(name ?? now)
        resolve(name)
      }
      const cancel = () => done()
      cancelled.addEventListener('abort', cancel, { once: true })
      const lines = () => {
        const { top, bottom } = margin()
        return Math.max(3, tui.terminal.rows - top - bottom - chrome + 1)
      }
      this.#overlay.show(new ThemePicker({ theme, now, lines, preview, done }), {
        maxHeight: '100%',
        anchor: 'bottom-center',
        margin,
      })
    })
  }
}
