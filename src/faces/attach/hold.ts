/** Ctrl+C and Ctrl+], as terminals send them: by themselves, and in the two ways that programs can ask for. */
const keys = /(\u0003|\u001b\[99;5(?::1)?u|\u001b\[27;5;99~)|(\u001d|\u001b\[93;5(?::1)?u|\u001b\[27;5;93~)/

const pasteMark = /\u001b\[20[01]~/

/** Keeps Ctrl+C from the program, and gives it one for Ctrl+]; in a paste both are only characters. */
export class HoldKey {
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
