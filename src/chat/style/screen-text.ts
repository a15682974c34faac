import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui'

/** A longer run without a break is split, because the library would measure it repeatedly. */
const longestRun = 4096

/** Marks a prompt, so that terminals can jump to it; must be at the beginning of a line. */
export const promptMark = '\x1b]133;A\x07'

/** Wraps plain text at words where possible; no line is wider than `width`. */
export function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => runs(line).flatMap((run) => wrapTextWithAnsi(run, Math.max(1, width))))
}

/** Wraps plain text so that the continuation of an indented line keeps its indent. */
export function wrappedByIndent(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const indent = /^ */.exec(line)![0]
    // A deep indent would leave no room for the words.
    if (indent === '' || indent.length > width / 2) return wrapped(line, width)
    return wrapped(line.slice(indent.length), width - indent.length).map((row) => indent + row)
  })
}

/** Joins items in rows and breaks only between them where possible, so that a number keeps its unit. */
export function listed(items: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const item of items.filter((each) => each !== '')) {
    const joined = lines.length === 0 ? item : `${lines.at(-1)} · ${item}`
    if (visibleWidth(joined) <= width) lines.splice(-1, 1, joined)
    else lines.push(...wrapped(item, width))
  }
  return lines
}

function runs(line: string): string[] {
  if (line.length <= longestRun) return [line]
  return Array.from({ length: Math.ceil(line.length / longestRun) }, (_, at) =>
    line.slice(at * longestRun, (at + 1) * longestRun).toWellFormed(),
  )
}

/** Puts a margin before each line; the first may have a mark in it. */
export function indented(lines: readonly string[], margin: string, first = margin): string[] {
  return lines.map((line, at) => (at === 0 ? `${first}${line}` : line === '' ? '' : `${margin}${line}`))
}

/** Cuts a line that is wider than the screen. */
export function fit(line: string, width: number): string {
  return visibleWidth(line) <= width ? line : truncateToWidth(line, width, '…')
}

/**
 * Changes the lines of a text that grows. A line that did not change keeps its earlier result: otherwise each word would render a long
 * answer again, line by line.
 */
export class GrowingLines {
  #from: readonly string[] = []
  #to: string[] = []
  #width = 0

  /** `change` may use nothing but the line, its index and the width; call `forget` when anything else changed. */
  map(lines: readonly string[], width: number, change: (line: string, at: number) => string): string[] {
    if (width !== this.#width) this.forget()
    const [from, to] = [this.#from, this.#to]
    this.#from = lines
    this.#to = lines.map((line, at) => (line === from[at] ? to[at]! : change(line, at)))
    this.#width = width
    return this.#to
  }

  forget(): void {
    this.#from = []
    this.#to = []
  }
}
