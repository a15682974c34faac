import { plainEndings } from './text-edit.ts'

/** A line of a hunk: ' ' is in the file and stays, '-' is removed, '+' is added. */
export type HunkLine = { sign: ' ' | '-' | '+'; text: string }

/**
 * One change of a file. `anchors` are lines of the file above the change, from the outermost to the innermost: the texts after "@@".
 * `atEnd`: the change is at the end of the file. `line`: the line of the patch at which the hunk begins.
 */
export type Hunk = { anchors: string[]; lines: HunkLine[]; atEnd: boolean; line: number }

export type FilePatch =
  | { does: 'add'; path: string; content: string }
  | { does: 'delete'; path: string }
  | { does: 'update'; path: string; to?: string; hunks: Hunk[] }

/** Lines around a patch that was written for a shell or in Markdown. */
const wrapping = /^(?:```\w*|(?:apply_?patch\s*)?<<-?\s*(['"]?)\w+\1|\w*EOF\w*)?$/

const sections = /^\*\*\* (Add|Update|Delete) File:\s*(.*)$/
const begin = '*** Begin Patch'
const end = '*** End Patch'

/**
 * Parses a patch in the form for which some models were trained. Throws an error that names the line and says what to send. A patch
 * without an end marker was cut off, so none of it may be used.
 */
export function parsePatch(text: string): FilePatch[] {
  const all = plainEndings(text).split('\n')
  const first = all.findIndex((line) => line.trimEnd() === begin)
  const last = all.findLastIndex((line) => line.trimEnd() === end)
  if (first < 0) throw new Error(`the patch has no line "${begin}". It begins with that line and ends with "${end}".`)
  if (last < first) throw new Error(`the patch has no line "${end}": it was cut off. Send the whole patch again.`)
  const stray = [...all.slice(0, first), ...all.slice(last + 1)].find((line) => !wrapping.test(line.trim()))
  if (stray !== undefined)
    throw new Error(`there is text outside the patch: "${stray.slice(0, 80)}". Send the patch alone.`)
  const reader = new PatchReader()
  for (const [i, line] of all.slice(first + 1, last).entries()) reader.take(line, first + i + 2)
  return reader.done()
}

/** Parses the lines of a patch one after another into the section of the last header. */
class PatchReader {
  #files: FilePatch[] = []
  #now: FilePatch | undefined
  #hunk: Hunk | undefined
  /** Empty lines without a sign: they belong to the file if a line of the same section follows. */
  #blank = 0

  take(line: string, at: number): void {
    const header = sections.exec(line.trimEnd())
    if (header) return this.#begin(header[1]!, pathOf(header[2]!, at), at)
    const now = this.#now
    if (line.trim() === '' && !line.startsWith(' ')) {
      this.#blank++
      return
    }
    if (!now) throw new Error(`line ${at} of the patch is not below a file: ${headers}`)
    if (now.does === 'delete') throw new Error(`line ${at}: nothing may follow "*** Delete File: ${now.path}".`)
    if (now.does === 'add') return this.#addLine(now, line, at)
    this.#updateLine(now, line, at)
  }

  done(): FilePatch[] {
    this.#close()
    if (this.#files.length === 0) throw new Error(`the patch names no file: ${headers}`)
    return this.#files
  }

  #begin(kind: string, path: string, at: number): void {
    this.#close()
    if (kind === 'Add') this.#now = { does: 'add', path, content: '' }
    else if (kind === 'Delete') this.#now = { does: 'delete', path }
    else {
      const known = this.#files.find((one) => one.does === 'update' && one.path === path && one.to === undefined)
      this.#now = known ?? { does: 'update', path, hunks: [] }
      if (known) return
    }
    if (this.#files.some((one) => one.path === path))
      throw new Error(`line ${at}: ${path} is named twice. Give each file one section.`)
    this.#files.push(this.#now)
  }

  #addLine(file: Extract<FilePatch, { does: 'add' }>, line: string, at: number): void {
    if (!line.startsWith('+'))
      throw new Error(`line ${at}: every line of the new file ${file.path} begins with "+", but this one does not.`)
    file.content += `${'\n'.repeat(this.#blank)}${line.slice(1)}\n`
    this.#blank = 0
  }

  #updateLine(file: Extract<FilePatch, { does: 'update' }>, line: string, at: number): void {
    if (line.startsWith('*** Move to:')) {
      if (file.to !== undefined || file.hunks.length > 0 || this.#hunk)
        throw new Error(`line ${at}: "*** Move to:" is allowed once, directly below "*** Update File: ${file.path}".`)
      file.to = pathOf(line.slice('*** Move to:'.length), at)
      return
    }
    if (line.trimEnd() === '*** End of File') {
      if (!this.#hunk) throw new Error(`line ${at}: "*** End of File" belongs below the lines of a hunk.`)
      this.#hunk.atEnd = true
      return
    }
    if (line.startsWith('@@')) {
      // Several consecutive headers describe one place, from the outside in.
      if (!this.#hunk || this.#hunk.lines.length > 0 || this.#hunk.atEnd) this.#openHunk(file, at)
      const anchor = anchorOf(line)
      if (anchor !== '') this.#hunk!.anchors.push(anchor)
      return
    }
    const sign = line[0]
    if (sign !== ' ' && sign !== '+' && sign !== '-')
      throw new Error(
        `line ${at} begins with neither " " nor "-" nor "+": "${line.slice(0, 80)}". Put a space before a line that stays.`,
      )
    if (!this.#hunk || this.#hunk.atEnd) this.#openHunk(file, at)
    const hunk = this.#hunk!
    for (; this.#blank > 0; this.#blank--) hunk.lines.push({ sign: ' ', text: '' })
    hunk.lines.push({ sign, text: line.slice(1) })
  }

  #openHunk(file: Extract<FilePatch, { does: 'update' }>, at: number): void {
    this.#closeHunk()
    this.#hunk = { anchors: [], lines: [], atEnd: false, line: at }
    file.hunks.push(this.#hunk)
  }

  #closeHunk(): void {
    const hunk = this.#hunk
    this.#hunk = undefined
    this.#blank = 0
    if (hunk && !hunk.lines.some(({ sign }) => sign !== ' '))
      throw new Error(`the hunk at line ${hunk.line} changes nothing: give it lines with "-" or "+", or leave it out.`)
  }

  #close(): void {
    this.#closeHunk()
    const now = this.#now
    if (now?.does === 'update' && now.hunks.length === 0 && now.to === undefined)
      throw new Error(`"*** Update File: ${now.path}" has no hunk: put "@@" and the changed lines below it.`)
  }
}

const headers = 'each file begins with "*** Add File: ", "*** Update File: " or "*** Delete File: " and its path.'

function pathOf(text: string, at: number): string {
  const path = text.trim()
  if (path === '') throw new Error(`line ${at} names no path.`)
  if (path.includes('\0')) throw new Error(`line ${at}: no path can have a NUL character.`)
  return path
}

/** The text after "@@", without the line numbers and the second "@@" of a unified diff. */
const anchorOf = (line: string) =>
  line
    .replace(/^@@(?:\s+-\d+(?:,\d+)?\s+\+\d+(?:,\d+)?\s+@@)?/, '')
    .replace(/@@\s*$/, '')
    .trim()
