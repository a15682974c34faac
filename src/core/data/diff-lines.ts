import { gitHeaderPaths, headerPath, unquoted } from './diff-paths.ts'

/** One line of a diff in git's format. `old` and `new` are its numbers in the file before and after the change. */
export type DiffLine = {
  kind: 'file' | 'header' | 'hunk' | 'same' | 'added' | 'removed'
  /** The file's path after the change; for a removed file, the path before it. */
  path: string
  old?: number
  new?: number
  /** The line of the file, without the sign at its beginning. */
  text: string
}

/** Parses a diff line by line. The counts of each hunk say how long it is, so a removed line such as `-- a` is not taken for a header. */
export class DiffReader {
  #path = ''
  #before = ''
  #old = { at: 0, left: 0 }
  #new = { at: 0, left: 0 }

  read(line: string): DiffLine {
    if (this.#old.left > 0 || this.#new.left > 0) {
      const found = this.#inHunk(line)
      if (found) return found
    }
    return this.#header(line)
  }

  #inHunk(line: string): DiffLine | undefined {
    const [sign, text, path] = [line[0], line.slice(1), this.#path]
    if (sign === '+' && this.#new.left > 0) return { kind: 'added', path, new: step(this.#new), text }
    if (sign === '-' && this.#old.left > 0) return { kind: 'removed', path, old: step(this.#old), text }
    // An editor may have removed the space in an empty line.
    if (sign === ' ' || sign === undefined)
      return { kind: 'same', path, old: step(this.#old), new: step(this.#new), text }
    if (sign === '\\') return { kind: 'header', path, text: line }
    this.#old.left = this.#new.left = 0
    return undefined
  }

  #header(line: string): DiffLine {
    const [, old, oldCount = '1', next, nextCount = '1'] = hunk.exec(line) ?? []
    if (next !== undefined) {
      this.#old = { at: Number(old), left: Number(oldCount) }
      this.#new = { at: Number(next), left: Number(nextCount) }
      return { kind: 'hunk', path: this.#path, text: line }
    }
    if (line.startsWith('diff --git ')) {
      this.#path = this.#before = gitHeaderPaths(line.slice('diff --git '.length)).newPath
      return { kind: 'file', path: this.#path, text: line }
    }
    if (line.startsWith('--- ')) this.#before = headerPath(line.slice(4)) ?? this.#before
    // A diff by a program other than git names its files only in these two lines.
    const isAlone = line.startsWith('+++ ') && this.#path === '' && this.#before !== ''
    if (line.startsWith('+++ ')) this.#path = headerPath(line.slice(4)) ?? this.#before
    if (line.startsWith('rename to ') || line.startsWith('copy to '))
      this.#path = unquoted(line.replace(/^\w+ to /, ''))
    // A model that writes a diff by hand may leave out the hunks' headers.
    const loose = /^(?:\+(?!\+\+ )|-(?!-- ))/.exec(line)?.[0]
    if (loose !== undefined && this.#path !== '')
      return { kind: loose === '+' ? 'added' : 'removed', path: this.#path, text: line.slice(1) }
    return { kind: isAlone ? 'file' : 'header', path: this.#path, text: line }
  }
}

const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

function step(side: { at: number; left: number }): number {
  side.left--
  return side.at++
}

/** How many bytes of a line are read; a file with longer lines is not one that people read line by line. */
const longestLine = 8 * 1024

/** Yields the lines of a long text that arrives in pieces, each cut after `longestLine` characters. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!.slice(0, longestLine)
    if (lines.length > 0) yield lines.map((line) => (line.length > longestLine ? line.slice(0, longestLine) : line))
  }
  rest += decoder.decode()
  if (rest !== '') yield [rest]
}

/** Counts the files and the changed lines of a diff. */
export async function diffSize(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ files: number; added: number; removed: number }> {
  const reader = new DiffReader()
  const size = { files: 0, added: 0, removed: 0 }
  for await (const lines of linesOf(chunks))
    for (const line of lines) {
      const { kind } = reader.read(line)
      if (kind === 'file') size.files++
      else if (kind === 'added' || kind === 'removed') size[kind]++
    }
  return size
}

/** Finds a line of a file in a diff; undefined if the diff does not show it. */
export async function lineInDiff(
  chunks: AsyncIterable<Uint8Array>,
  { path, line, side }: { path: string; line: number; side: 'old' | 'new' },
): Promise<string | undefined> {
  const reader = new DiffReader()
  for await (const lines of linesOf(chunks))
    for (const text of lines) {
      const found = reader.read(text)
      if (found.path === path && found[side] === line) return found.text
    }
  return undefined
}
