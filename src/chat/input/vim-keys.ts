/** A text and the place of its cursor, in cells: a cell is what the cursor moves over at once, and a line break is one too. */
export type VimText = { cells: readonly string[]; at: number }

export type VimMode = 'normal' | 'insert'

/** The effect of a key: the mode and the cursor after it. With `cells` the text changes; with `undo` the last change is taken back. */
export type VimStep = { mode: VimMode; at: number; cells?: readonly string[]; undo?: true }

type Register = { cells: readonly string[]; whole: boolean }
/** Where a motion leads. An operator takes everything up to there: with `past` that cell too, with `lines` whole lines. */
type Motion = { to: number; past?: true; lines?: true }
type Find = { key: string; of: string }

const parsed = /^([1-9]\d*)?(?:([dcy])([1-9]\d*)?)?([^]*)$/
/** Keys that need another one behind them. */
const unfinished = /^(?:[fFtTr]|g)$/

/** The keys of vim in normal mode, over any text. It knows nothing of a screen. */
export class VimKeys {
  #typed = ''
  #register: Register = { cells: [], whole: false }
  #found: Find | undefined
  #lastChange = ''

  /** Forgets a command that was only begun. Returns whether there was one. */
  forget(): boolean {
    const had = this.#typed !== ''
    this.#typed = ''
    return had
  }

  /** The keys of the command that was begun. */
  get begun(): string {
    return this.#typed
  }

  press(key: string, text: VimText): VimStep {
    this.#typed += key
    const [, first = '', op, second = '', rest = ''] = parsed.exec(this.#typed)!
    const isObject = op !== undefined && /^[ia]$/.test(rest)
    if (rest === '' || unfinished.test(rest) || isObject) return { mode: 'normal', at: text.at }
    const typed = this.#typed
    this.#typed = ''
    const count = Math.min(999, Number(first || 1) * Number(second || 1))
    const isCounted = first !== '' || second !== ''
    if (rest === '.') return this.#lastChange === '' ? stay(text) : this.#again(text)
    const step = op === undefined ? this.#act(rest, count, isCounted, text) : this.#operate(op, rest, count, text)
    if (step.cells && step.mode === 'normal' && !step.undo) this.#lastChange = typed
    return step
  }

  #again(text: VimText): VimStep {
    const keys = this.#lastChange
    let step = stay(text)
    for (const key of keys) step = this.press(key, text)
    return step
  }

  #operate(op: string, rest: string, count: number, text: VimText): VimStep {
    const { cells, at } = text
    if (rest === op) {
      const last = Array.from({ length: count - 1 }).reduce<number>((to) => below(cells, to), at)
      return this.#take(op, at, last, true, text)
    }
    const object = /^[ia]w$/.test(rest) ? wordAround(cells, at, rest === 'aw') : undefined
    if (object) return this.#take(op, object[0], object[1], false, text)
    // Vim itself has cw end where the word ends.
    const key = op === 'c' && /^[wW]$/.test(rest) && kindAt(cells, at) !== 0 ? (rest === 'w' ? 'e' : 'E') : rest
    const motion = this.#motion(key, count, text, true)
    if (!motion) return stay(text)
    if (motion.lines) return this.#take(op, Math.min(at, motion.to), Math.max(at, motion.to), true, text)
    const to = motion.to + (motion.past ? 1 : 0)
    return this.#take(op, Math.min(at, to), Math.max(at, to), false, text)
  }

  /** Yanks, deletes or changes a range; `whole` takes the lines from the one to the other. */
  #take(op: string, from: number, to: number, whole: boolean, { cells, at }: VimText): VimStep {
    const [begin, end] = whole ? [lineStart(cells, from), lineEnd(cells, to)] : [from, to]
    this.#register = { cells: cells.slice(begin, end), whole }
    if (op === 'y') return { mode: 'normal', at: whole ? at : begin }
    if (op === 'c') return { mode: 'insert', at: begin, cells: spliced(cells, begin, end) }
    if (!whole) return normal(spliced(cells, begin, end), begin)
    // The line break behind the lines goes with them; the last lines take the one before them.
    const isLast = end >= cells.length
    const left = isLast ? spliced(cells, Math.max(0, begin - 1), end) : spliced(cells, begin, end + 1)
    return normal(left, firstWord(left, lineStart(left, Math.min(begin, left.length))))
  }

  /** A command without an operator: an edit, a change of the mode, or a motion. */
  #act(rest: string, count: number, isCounted: boolean, text: VimText): VimStep {
    const { cells, at } = text
    const [begin, end] = [lineStart(cells, at), lineEnd(cells, at)]
    const insert = (place: number, more?: readonly string[]): VimStep => ({
      mode: 'insert',
      at: place,
      ...(more ? { cells: more } : {}),
    })
    switch (rest) {
      case 'i':
        return insert(at)
      case 'I':
        return insert(firstWord(cells, begin))
      case 'a':
        return insert(Math.min(at + 1, end))
      case 'A':
        return insert(end)
      case 'o':
        return insert(end + 1, spliced(cells, end, end, ['\n']))
      case 'O':
        return insert(begin, spliced(cells, begin, begin, ['\n']))
      case 'x':
        return at < end ? this.#take('d', at, Math.min(end, at + count), false, text) : stay(text)
      case 'X':
        return at > begin ? this.#take('d', Math.max(begin, at - count), at, false, text) : stay(text)
      case 's':
        return this.#take('c', at, Math.min(end, at + count), false, text)
      case 'S':
        return this.#take('c', at, at, true, text)
      case 'D':
      case 'C':
        return this.#take(rest.toLowerCase(), at, end, false, text)
      case 'Y':
        return this.#take('y', at, at, true, text)
      case 'p':
      case 'P':
        return this.#put(rest, count, text)
      case 'u':
        return { mode: 'normal', at, undo: true }
      case 'J':
        return end < cells.length ? normal(spliced(cells, end, firstWord(cells, end + 1), [' ']), end) : stay(text)
    }
    if (rest.startsWith('r')) {
      const by = rest.slice(1)
      if (at + count > end) return stay(text)
      return normal(
        spliced(
          cells,
          at,
          at + count,
          Array.from({ length: count }, () => by),
        ),
        at + count - 1,
      )
    }
    const motion = this.#motion(rest, count, text, false, isCounted)
    return motion ? normal(cells, motion.to, false) : stay(text)
  }

  #put(key: string, count: number, { cells, at }: VimText): VimStep {
    const { cells: held, whole } = this.#register
    if (held.length === 0 && !whole) return { mode: 'normal', at }
    const copies = Array.from({ length: count }, () => held)
    if (whole) {
      const lines = copies.flatMap((copy) => (key === 'p' ? ['\n', ...copy] : [...copy, '\n']))
      const place = key === 'p' ? lineEnd(cells, at) : lineStart(cells, at)
      const put = spliced(cells, place, place, lines)
      return normal(put, firstWord(put, key === 'p' ? place + 1 : place))
    }
    const place = key === 'p' && at < lineEnd(cells, at) ? at + 1 : at
    const more = copies.flat()
    return normal(spliced(cells, place, place, more), place + more.length - 1)
  }

  #motion(
    key: string,
    count: number,
    { cells, at }: VimText,
    forOperator: boolean,
    isCounted = true,
  ): Motion | undefined {
    const [begin, end] = [lineStart(cells, at), lineEnd(cells, at)]
    const times = (step: (from: number) => number) => {
      let to = at
      for (let left = count; left > 0; left--) to = step(to)
      return to
    }
    const isBig = /^[WBE]$/.test(key)
    switch (key) {
      case 'h':
        return { to: Math.max(begin, at - count) }
      case 'l':
      case ' ':
        return { to: Math.min(end, at + count) }
      case 'j':
      case 'k': {
        const to = times((from) => (key === 'j' ? below(cells, from, at - begin) : above(cells, from, at - begin)))
        return lineStart(cells, to) === begin ? undefined : { to, lines: true }
      }
      case '0':
        return { to: begin }
      case '^':
        return { to: firstWord(cells, begin) }
      case '$':
        return { to: end }
      case 'w':
      case 'W': {
        let [last, to] = [at, at]
        for (let left = count; left > 0; left--) [last, to] = [to, nextWord(cells, to, isBig)]
        // An operator does not join the next line to this one.
        return { to: forOperator && last < lineEnd(cells, last) ? Math.min(to, lineEnd(cells, last)) : to }
      }
      case 'b':
      case 'B':
        return { to: times((from) => wordBefore(cells, from, isBig)) }
      case 'e':
      case 'E':
        return { to: times((from) => wordEnd(cells, from, isBig)), past: true }
      case 'gg':
        return { to: isCounted && count > 1 ? lineOf(cells, count) : 0, lines: true }
      case 'G':
        return { to: isCounted && !forOperator ? lineOf(cells, count) : lineStart(cells, cells.length), lines: true }
      case ';':
        return this.#found && this.#find(this.#found, count, cells, at)
      case ',':
        return this.#found && this.#find({ ...this.#found, key: swapped(this.#found.key) }, count, cells, at)
    }
    if (!/^[fFtT]/.test(key)) return undefined
    this.#found = { key: key[0]!, of: key.slice(1) }
    return this.#find(this.#found, count, cells, at)
  }

  /** Finds a character in the line; `t` and `T` stop before it. */
  #find({ key, of }: Find, count: number, cells: readonly string[], at: number): Motion | undefined {
    const by = /[ft]/.test(key) ? 1 : -1
    const until = /[tT]/.test(key) ? by : 0
    const [begin, end] = [lineStart(cells, at), lineEnd(cells, at)]
    let [to, left] = [at + until, count]
    while (left > 0) {
      to += by
      if (to < begin || to >= end) return undefined
      if (cells[to] === of) left--
    }
    return by === 1 ? { to: to - until, past: true } : { to: to - until }
  }
}

const stay = ({ at }: VimText): VimStep => ({ mode: 'normal', at })
const swapped = (key: string) => (key === key.toLowerCase() ? key.toUpperCase() : key.toLowerCase())

/** In normal mode the cursor is on a cell of its line, if the line has one. */
export function onCell(cells: readonly string[], at: number): number {
  const place = Math.max(0, Math.min(at, cells.length))
  return place === lineEnd(cells, place) && place > lineStart(cells, place) ? place - 1 : place
}

const normal = (cells: readonly string[], at: number, changes = true): VimStep => ({
  mode: 'normal',
  at: onCell(cells, at),
  ...(changes ? { cells } : {}),
})

const spliced = (cells: readonly string[], from: number, to: number, by: readonly string[] = []) => [
  ...cells.slice(0, from),
  ...by,
  ...cells.slice(to),
]

function lineStart(cells: readonly string[], at: number): number {
  let start = at
  while (start > 0 && cells[start - 1] !== '\n') start--
  return start
}

function lineEnd(cells: readonly string[], at: number): number {
  let end = at
  while (end < cells.length && cells[end] !== '\n') end++
  return end
}

/** The first cell of a line that is not a blank. */
function firstWord(cells: readonly string[], begin: number): number {
  let at = begin
  while (at < cells.length && cells[at] !== '\n' && /^\s/.test(cells[at]!)) at++
  return at
}

/** The same column in the line below, as far as that line goes; in the last line the same place. */
function below(cells: readonly string[], at: number, column = 0): number {
  const end = lineEnd(cells, at)
  return end >= cells.length ? at : Math.min(end + 1 + column, lineEnd(cells, end + 1))
}

function above(cells: readonly string[], at: number, column = 0): number {
  const begin = lineStart(cells, at)
  if (begin === 0) return at
  const before = lineStart(cells, begin - 1)
  return Math.min(before + column, begin - 1)
}

function lineOf(cells: readonly string[], number: number): number {
  let at = 0
  for (let line = 1; line < number; line++) at = below(cells, at)
  return at
}

/** Blank, word or punctuation; of large words everything that is not blank is one kind. A chip of pasted text is a word. */
function kindAt(cells: readonly string[], at: number, isBig = false): 0 | 1 | 2 {
  const cell = cells[at]
  if (cell === undefined || /^\s/.test(cell)) return 0
  return isBig || cell.length > 4 || /^[\p{L}\p{N}_]/u.test(cell) ? 1 : 2
}

const isEmptyLine = (cells: readonly string[], at: number) => cells[at] === '\n' && (at === 0 || cells[at - 1] === '\n')

function nextWord(cells: readonly string[], from: number, isBig: boolean): number {
  const kind = kindAt(cells, from, isBig)
  let at = from
  if (kind === 0) at++
  else while (at < cells.length && kindAt(cells, at, isBig) === kind) at++
  if (kind === 0 && isEmptyLine(cells, at)) return at
  while (at < cells.length && kindAt(cells, at, isBig) === 0 && !isEmptyLine(cells, at)) at++
  return Math.min(at, cells.length)
}

function wordBefore(cells: readonly string[], from: number, isBig: boolean): number {
  let at = from - 1
  while (at > 0 && kindAt(cells, at, isBig) === 0 && !isEmptyLine(cells, at)) at--
  const kind = kindAt(cells, at, isBig)
  while (kind !== 0 && at > 0 && kindAt(cells, at - 1, isBig) === kind) at--
  return Math.max(0, at)
}

function wordEnd(cells: readonly string[], from: number, isBig: boolean): number {
  let at = from + 1
  while (at < cells.length - 1 && kindAt(cells, at, isBig) === 0) at++
  const kind = kindAt(cells, at, isBig)
  while (at < cells.length - 1 && kindAt(cells, at + 1, isBig) === kind) at++
  return Math.max(0, Math.min(at, cells.length - 1))
}

/** The word or the blanks at the cursor; `around` takes the blanks behind the word too, or else those before it. */
function wordAround(cells: readonly string[], at: number, around: boolean): [number, number] {
  const [first, last] = [lineStart(cells, at), lineEnd(cells, at)]
  const kind = kindAt(cells, at)
  let [from, to] = [at, at]
  while (from > first && kindAt(cells, from - 1) === kind) from--
  while (to < last && kindAt(cells, to) === kind) to++
  if (!around) return [from, to]
  const end = to
  while (to < last && kindAt(cells, to) === 0) to++
  if (to === end) while (from > first && kindAt(cells, from - 1) === 0) from--
  return [from, to]
}
