/** Code between two fences. */
export type Fence = { mark: string; language: string; begins: boolean }

/** How a part is left: inside a fence, or with no room before what follows. */
export type Left = { fence?: Fence; joined: boolean }

/** A piece of a Markdown text that is rendered by itself. */
export type Part = { text: string; length: number; fence?: Fence; joined: boolean; left: Left }

const opening = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/
const item = /^([-*+]|\d{1,9}[.)])\s/
const half = { item: /^([-*+]|\d{1,9}[.)]?)$/, fence: /^ {0,3}(`{2,}|~{2,})[^`\s]*$/ }

/** Longer ones are cut where they can be, so that what streams in is never rendered from far back. */
const mostProse = 6000
const mostCodeLines = 40
const longestLine = 4000

/**
 * Cuts a text where what follows cannot change what came before: after an empty line that no list goes over,
 * and round code. All parts but the last are final however the text goes on; `left` is how the part before it was left.
 */
export function split(text: string, left: Left = { joined: false }): Part[] {
  const cutter = new Cutter(left)
  for (let at = 0; ;) {
    const stop = text.indexOf('\n', at)
    if ((stop < 0 ? text.length : stop) - at > longestLine) {
      const to = breakIn(text, at)
      cutter.piece(text.slice(at, to), to)
      at = to
      continue
    }
    if (stop < 0) {
      cutter.lastLine(text.slice(at), at)
      cutter.cut(text.length, { joined: false })
      return cutter.parts
    }
    cutter.line(text.slice(at, stop), at, stop + 1)
    at = stop + 1
  }
}

/** Where a line that is too long is broken: at a word near its end, and never inside a character. */
function breakIn(text: string, at: number): number {
  const end = at + longestLine
  const space = text.lastIndexOf(' ', end)
  if (space > end - 200) return space + 1
  return /[\udc00-\udfff]/.test(text[end]!) ? end - 1 : end
}

class Cutter {
  readonly parts: Part[] = []
  #fence: Fence | undefined
  #joined: boolean
  #from = 0
  #lines: string[] = []
  #size = 0
  #afterBlank = false

  constructor({ fence, joined }: Left) {
    this.#fence = fence
    this.#joined = joined
  }

  /** A whole line, from `at` up to where the next one begins. */
  line(line: string, at: number, next: number): void {
    if (this.#fence) return this.#codeLine(line, next)
    const fence = opening.exec(line)
    if (!fence) return this.#proseLine(line, at)
    // The fence itself goes with what is before it: what is left begins inside.
    this.cut(next, { joined: false, fence: { mark: fence[1]!, language: fence[2]!.toLowerCase(), begins: true } })
  }

  /** The beginning of a line that is too long to wait for its end. */
  piece(text: string, to: number): void {
    this.#hold(text)
    this.cut(to, { joined: true, ...(this.#fence ? { fence: { ...this.#fence, begins: false } } : {}) })
  }

  /** The line that still grows: a fence or an item that is only half there is taken for what it may become. */
  lastLine(line: string, at: number): void {
    if (!this.#fence) {
      if (!half.fence.test(line)) this.#proseLine(line, at, half.item.test(line) || item.test(line))
    } else if (!this.#closes(line) && !/^[`~]{1,2}$/.test(line)) this.#hold(line)
  }

  cut(to: number, left: Left): void {
    const length = to - this.#from
    const empty = !this.#fence && this.#lines.every((line) => line.trim() === '')
    const before = this.parts.at(-1)
    if (empty && before) {
      before.length += length
      before.left = left
    } else if (length > 0) {
      const fence = this.#fence ? { fence: this.#fence } : {}
      this.parts.push({ text: this.#lines.join('\n'), length, ...fence, joined: this.#joined, left })
    }
    this.#from = to
    this.#lines = []
    this.#size = 0
    this.#afterBlank = false
    this.#fence = left.fence
    this.#joined = left.joined
  }

  #codeLine(line: string, next: number): void {
    if (this.#closes(line)) return this.cut(next, { joined: false })
    this.#hold(line)
    if (this.#lines.length >= mostCodeLines) this.cut(next, { joined: true, fence: { ...this.#fence!, begins: false } })
  }

  #proseLine(line: string, at: number, mayBeItem = item.test(line)): void {
    const begins = line !== '' && !/^\s/.test(line) && !mayBeItem
    if (this.#afterBlank && begins) this.cut(at, { joined: false })
    else if (this.#size + line.length > mostProse && this.#lines.length > 0) this.cut(at, { joined: true })
    this.#hold(line)
    this.#afterBlank = line.trim() === ''
  }

  #closes(line: string): boolean {
    const { mark } = this.#fence!
    const word = line.trim()
    return word.length >= mark.length && word === mark[0]!.repeat(word.length)
  }

  #hold(line: string): void {
    this.#lines.push(line)
    this.#size += line.length + 1
  }
}
