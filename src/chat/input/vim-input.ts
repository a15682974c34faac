import type { PromptEditor } from './prompt-editor.ts'
import type { VimMode } from './vim-keys.ts'
import { decodeKittyPrintable } from '@earendil-works/pi-tui'
import { onCell, VimKeys } from './vim-keys.ts'

/** Characters that give an empty input another meaning: they are typed, in normal mode too, with the keys that arrive with them. */
const beginnings = /^[/!#@?]/

/** The keys of vim over the editor of the input. In insert mode every key has its usual meaning. */
export class VimInput {
  #editor: PromptEditor
  #keys = new VimKeys()
  #mode: VimMode = 'insert'

  constructor(editor: PromptEditor) {
    this.#editor = editor
  }

  /** The mode, and the keys of a command that was begun. */
  get words(): string {
    const { begun } = this.#keys
    return this.#mode.toUpperCase() + (begun === '' ? '' : ` ${begun}`)
  }

  /** A new prompt begins in insert mode. */
  begin(): void {
    this.#keys.forget()
    this.#mode = 'insert'
  }

  /** Leaves insert mode, or a command that was only begun; false if Esc has its usual meaning. */
  escape(): boolean {
    if (this.#mode === 'normal') return this.#keys.forget()
    this.#mode = 'normal'
    const { cells, at } = this.#editor.cells()
    const isAtStart = at === 0 || cells[at - 1] === '\n'
    this.#editor.setCells(onCell(cells, isAtStart ? at : at - 1))
    return true
  }

  /** Acts on a key of normal mode; false if it has its usual meaning, as Enter and the arrows have. */
  takes(data: string): boolean {
    const typed = decodeKittyPrintable(data) ?? data
    if (this.#mode === 'insert' || /[\x00-\x1f\x7f-\x9f]/.test(typed)) return false
    if (beginnings.test(typed) && this.#editor.getText() === '') {
      if (typed !== '?') this.#mode = 'insert'
      return false
    }
    for (const key of typed) this.#press(key)
    return true
  }

  #press(key: string): void {
    // Keys may arrive together: the first of them may begin insert mode.
    if (this.#mode === 'insert') return this.#editor.handleInput(key)
    const { mode, at, cells, undo } = this.#keys.press(key, this.#editor.cells())
    this.#mode = mode
    if (undo) {
      this.#editor.undoEdit()
      const now = this.#editor.cells()
      this.#editor.setCells(onCell(now.cells, now.at))
    } else this.#editor.setCells(at, cells)
  }
}
