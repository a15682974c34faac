/** What leaves, as a person calls it. */
export const detachKey = 'Ctrl+]'

/** As terminals send it: by itself, and in the two ways that programs can ask for. */
const sent = /\u001d|\u001b\[93;5(?::1)?u|\u001b\[27;5;93~/

const pasteMarks = /\u001b\[20[01]~/g

/** Finds the key that leaves among what is typed; in a paste it is only a character. */
export class DetachKey {
  #pasting = false

  /** What is for the program, and whether the key came after it. */
  push(text: string): { typed: string; leaves: boolean } {
    let from = 0
    for (const mark of [...text.matchAll(pasteMarks), undefined]) {
      const to = mark?.index ?? text.length
      const found = this.#pasting ? undefined : sent.exec(text.slice(from, to))
      if (found) return { typed: text.slice(0, from + found.index), leaves: true }
      if (mark) this.#pasting = mark[0].endsWith('0~')
      from = to
    }
    return { typed: text, leaves: false }
  }
}
