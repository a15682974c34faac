import type { Env } from '../../../base/env.ts'
import type { Theme } from '../../style/theme.ts'
import type { FileChange } from '../../../core/talk/entry.ts'
import type { DiffLine } from '../../style/diff-lines.ts'
import type { Colour } from '../../style/highlight.ts'
import { diffLines } from '../../style/diff-lines.ts'

/** Everything besides the block itself that its rendering depends on. */
export type RenderContext = {
  theme: Theme
  lazy: LazyDetails
  /** Writes the path of a file of the project as a person does. */
  shorten?: (path: string) => string
  /** Whether the terminal can open a link. */
  links: boolean
  /** Whether the name of a language is left out above its code. */
  unnamed?: true
  /** Whether a finished edit is its head line alone, because it is a part of a longer list. */
  brief?: true
  /** The current time, for the elapsed time of a working agent. */
  now(): number
}

/** Whether a terminal understands links; some print them. */
export function canLink({ TERM, STY }: Env): boolean {
  return TERM !== undefined && TERM !== 'dumb' && TERM !== 'linux' && STY === undefined
}

/**
 * Details that take time to load: code colours and diffs. They are loaded when first needed; the frame is painted without them, and
 * `came` is called once they are loaded.
 */
export class LazyDetails {
  #came: (what: 'colours' | 'diffs') => void
  #later: (work: () => void) => void
  #colour: Colour | 'loading' | undefined
  #diffs = new WeakMap<FileChange, readonly DiffLine[] | 'loading'>()
  #told = false

  constructor(came: (what: 'colours' | 'diffs') => void, later: (work: () => void) => void) {
    this.#came = came
    this.#later = later
  }

  /** The function that colours code; undefined until it is loaded, or if it cannot be loaded. Then code is plain. */
  colour(): Colour | undefined {
    if (this.#colour === undefined) {
      this.#colour = 'loading'
      import('../../style/highlight.ts').then(
        ({ colourCode }) => {
          this.#colour = colourCode
          this.#came('colours')
        },
        () => {},
      )
    }
    return this.#colour === 'loading' ? undefined : this.#colour
  }

  diff(change: FileChange): readonly DiffLine[] | undefined {
    const known = this.#diffs.get(change)
    if (known === undefined) {
      this.#diffs.set(change, 'loading')
      // The block is drawn without the diff until that is computed.
      void diffLines(change).then((lines) => {
        this.#diffs.set(change, lines)
        this.#tell()
      })
    }
    return known === 'loading' ? undefined : known
  }

  /** Calls `came` once for all diffs that arrive together. */
  #tell(): void {
    if (this.#told) return
    this.#told = true
    this.#later(() => {
      this.#told = false
      this.#came('diffs')
    })
  }
}
