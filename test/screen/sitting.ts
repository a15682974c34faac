import type { ProgramWindow, Size } from './program-window.ts'
import { keys } from './program-window.ts'
import { golden } from './golden.ts'
import { sizes } from './looks.ts'

/** All of these have to be true of a screen before all of it is there. */
type Signs = readonly (string | RegExp | ((screen: string) => boolean))[]

const has = (screen: string, signs: Signs) =>
  signs.every((sign) =>
    typeof sign === 'string' ? screen.includes(sign) : sign instanceof RegExp ? sign.test(screen) : sign(screen),
  )

/** Whether nothing is at work and the last row ends with this use of the conversation. */
export const rested = (tokens: string) => (screen: string) =>
  !/ Esc cancels$/m.test(screen) && screen.includes('Ask anything') && screen.endsWith(tokens)

/** Hides the numbers of tokens, which are tested elsewhere. */
export const uncounted = (row: string) =>
  row.replaceAll(/\d+(?:\.\d+)?(?=k? tokens)/g, (count) => count.replaceAll(/\d/g, '#'))

/** A person at the chat who compares every frame. */
export class Sitting {
  readonly window: ProgramWindow
  readonly look: string
  #tidy: (row: string) => string

  /** `tidy`: takes out of a row what may change without anybody looking at it. */
  constructor(window: ProgramWindow, look: string, tidy = (row: string) => row) {
    this.window = window
    this.look = look
    this.#tidy = tidy
  }

  /** The background is asked for, and the colours turn when it is known: the border of a light screen is blue. */
  async begun(): Promise<void> {
    const border = { dark: '0 0:fg6', light: '0 0:fg4', plain: '' }[this.look]!
    const { window } = this
    await window.shows(
      (screen) => / next (alpha|claude) /.test(screen) && (window.frame().styles[0] ?? '').startsWith(border),
    )
  }

  async shows(...signs: Signs): Promise<void> {
    await this.window.shows((screen) => has(screen, signs))
  }

  /** The frame at every size, each once all of it is there; then the first size comes back. */
  async framed(name: string, signs: Signs, at: readonly Size[] = sizes): Promise<void> {
    for (const size of at) {
      await this.window.resize(size)
      await this.shows(...signs)
      const { rows, styles } = this.window.frame()
      golden(`${name}-${size.cols}x${size.rows}`, this.look, { rows: rows.map(this.#tidy), styles })
    }
    await this.window.resize(sizes[0]!)
  }

  /** The popup goes first, then what was typed. */
  async emptied(): Promise<void> {
    this.window.type(keys.escape)
    await this.window.shows((screen) => !screen.includes('›'))
    this.window.type(keys.ctrlU)
    await this.shows('Ask anything')
  }
}
