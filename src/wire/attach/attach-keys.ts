/** Splits what a person types at an attached terminal: `typed` is for the program, `leaves` says that they leave after it. */
export type AttachKeys = { push(text: string): { typed: string; leaves: boolean } }

/** The name of the key that leaves a terminal of the crew. */
export const detachKey = 'Ctrl+]'

/** Ctrl+] as terminals send it: as a character, and in the two other notations that programs can ask for. */
const detachSequence = /\u001d|\u001b\[93;5(?::1)?u|\u001b\[27;5;93~/

const pasteMarks = /\u001b\[20[01]~/g

/** Leaves on Ctrl+]; inside a paste Ctrl+] is only a character. */
export class DetachKeys implements AttachKeys {
  #pasting = false

  push(text: string): { typed: string; leaves: boolean } {
    let from = 0
    for (const mark of [...text.matchAll(pasteMarks), undefined]) {
      const to = mark?.index ?? text.length
      const found = this.#pasting ? undefined : detachSequence.exec(text.slice(from, to))
      if (found) return { typed: text.slice(0, from + found.index), leaves: true }
      if (mark) this.#pasting = mark[0].endsWith('0~')
      from = to
    }
    return { typed: text, leaves: false }
  }
}

/** Ctrl+C in the first group and Ctrl+] in the second, in the same three notations. */
const supervisedSequences =
  /(\u0003|\u001b\[99;5(?::1)?u|\u001b\[27;5;99~)|(\u001d|\u001b\[93;5(?::1)?u|\u001b\[27;5;93~)/

const pasteMark = /\u001b\[20[01]~/

/** Leaves on Ctrl+C, and gives the program a Ctrl+C for Ctrl+]; inside a paste both are only characters. */
export class SupervisedKeys implements AttachKeys {
  #pasting = false

  push(text: string): { typed: string; leaves: boolean } {
    let typed = ''
    for (let rest = text; ;) {
      const mark = pasteMark.exec(rest)
      const key = this.#pasting ? null : supervisedSequences.exec(rest)
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
