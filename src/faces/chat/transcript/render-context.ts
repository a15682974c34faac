import type { Theme } from '../theme.ts'
import type { FileChange } from '../../../core/talk/entry.ts'
import type { DiffLine } from '../diff-lines.ts'
import type { Colour } from './markdown/highlight.ts'
import { diffLines } from '../diff-lines.ts'

/** What the blocks are rendered with. */
export type RenderContext = {
  theme: Theme
  lazy: LazyDetails
  /** Whether the terminal can follow a link. */
  links: boolean
  /** Whether the border goes down its sides. */
  sides: boolean
}

/** Not every terminal follows links; some print them. */
export function canLink({ TERM, STY }: Readonly<Record<string, string | undefined>>): boolean {
  return TERM !== undefined && TERM !== 'dumb' && TERM !== 'linux' && STY === undefined
}

/**
 * What makes the transcript prettier and takes time: it is asked for when it is first needed, the frame is painted
 * without it, and `came` is called once it is here.
 */
export class LazyDetails {
  #came: (what: 'colours' | 'diffs') => void
  #later: (work: () => void) => void
  #colour: Colour | 'asked' | undefined
  #diffs = new WeakMap<FileChange, readonly DiffLine[] | 'asked'>()
  #told = false

  constructor(came: (what: 'colours' | 'diffs') => void, later: (work: () => void) => void) {
    this.#came = came
    this.#later = later
  }

  /** Without it code stands there plainly: not being able to load it is no fault worth a word. */
  colour(): Colour | undefined {
    if (this.#colour === undefined) {
      this.#colour = 'asked'
      import('./markdown/highlight.ts').then(
        ({ colourCode }) => {
          this.#colour = colourCode
          this.#came('colours')
        },
        () => {},
      )
    }
    return this.#colour === 'asked' ? undefined : this.#colour
  }

  diff(change: FileChange): readonly DiffLine[] | undefined {
    const known = this.#diffs.get(change)
    if (known === undefined) {
      this.#diffs.set(change, 'asked')
      void diffLines({ type: 'diff', ...change }).then((lines) => {
        this.#diffs.set(change, lines)
        this.#tell()
      })
    }
    return known === 'asked' ? undefined : known
  }

  /** Many come at once: one word for all of them. */
  #tell(): void {
    if (this.#told) return
    this.#told = true
    this.#later(() => {
      this.#told = false
      this.#came('diffs')
    })
  }
}
