import type { FileChange } from '../../../core/talk/entry.ts'
import type { DiffLine } from '../cards/diff.ts'
import type { Colour } from './markdown/highlight.ts'
import { diffLines } from '../cards/diff.ts'

/**
 * What makes the transcript prettier and takes time: it is asked for when it is first needed, the frame is painted
 * without it, and `came` is called once it is here.
 */
export class Late {
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
