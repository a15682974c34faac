/** What leaves, as a person calls it. */
export const detachKey = 'Ctrl+]'

/** As terminals send it: by itself, and in the two ways that programs can ask for. */
const sent = /\u001d|\u001b\[93;5(?::1)?u|\u001b\[27;5;93~/

const pasteMarks = /\u001b\[20[01]~/g

/** Finds the key that leaves among what is typed; in a paste it is only a character. */
export class DetachKeys {
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

/** Ctrl+C and Ctrl+], as terminals send them: by themselves, and in the two ways that programs can ask for. */
const keys = /(\u0003|\u001b\[99;5(?::1)?u|\u001b\[27;5;99~)|(\u001d|\u001b\[93;5(?::1)?u|\u001b\[27;5;93~)/

const pasteMark = /\u001b\[20[01]~/

/** Keeps Ctrl+C from the program, and gives it one for Ctrl+]; in a paste both are only characters. */
export class SupervisedKeys {
  #pasting = false

  /** What is for the program, and whether Ctrl+C came after it. */
  push(text: string): { typed: string; leaves: boolean } {
    let typed = ''
    for (let rest = text; ;) {
      const mark = pasteMark.exec(rest)
      const key = this.#pasting ? null : keys.exec(rest)
      if (key && (!mark || key.index < mark.index)) {
        typed += rest.slice(0, key.index)
        if (key[1] !== undefined) return { typed, leaves: true }
        typed += '\u0003'
        rest = rest.slice(key.index + key[0].length)
      } else if (mark) {
        const end = mark.index + mark[0].length
        this.#pasting = mark[0].endsWith('0~')
        typed += rest.slice(0, end)
        rest = rest.slice(end)
      } else return { typed: typed + rest, leaves: false }
    }
  }
}
