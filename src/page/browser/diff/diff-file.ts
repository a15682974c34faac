import { unquoted } from '../../../core/data/diff-paths.ts'

type DiffHunk = {
  /** The line of the document with the hunk's header. */
  line: number
  oldStart: number
  oldCount: number
  newStart: number
  newCount: number
}

export type DiffFile = {
  /** The lines of the document, from the file's header up to the next file. */
  first: number
  end: number
  /** Missing if the file was added, removed, or never named. */
  oldPath?: string
  newPath?: string
  oldMode?: string
  newMode?: string
  /** The abbreviated ids of git's objects before and after the change. */
  oldBlob?: string
  newBlob?: string
  move?: 'renamed' | 'copied'
  isBinary?: boolean
  /** Set for a diff of a merge, whose lines have a column for each parent. */
  isCombined?: boolean
  /** Set if a hunk lacks lines that its header announces. */
  isTorn?: boolean
  added: number
  removed: number
  /** How many characters in added lines are invisible or change the direction of text. */
  hidden: number
  hunks: DiffHunk[]
}

/** The name of a file in a list: its new path, or the old path if the file was removed. */
export const pathOf = ({ newPath, oldPath }: DiffFile) => newPath ?? oldPath ?? ''

/** Parses one of git's lines between a file's first line and its hunks. */
export function readHeader(file: DiffFile, text: string): void {
  if (file.hunks.length > 0) return
  const [, word, rest = ''] =
    /^(index|old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to|Binary files|GIT binary patch)(?: (.*))?$/s.exec(
      text,
    ) ?? []
  switch (word) {
    case 'index': {
      const [, oldBlob, newBlob] = /^([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})/.exec(rest) ?? []
      if (oldBlob !== undefined && newBlob !== undefined) Object.assign(file, { oldBlob, newBlob })
      return
    }
    case 'old mode':
      file.oldMode = rest
      return
    case 'new mode':
      file.newMode = rest
      return
    case 'new file mode':
      delete file.oldPath
      file.newMode = rest
      return
    case 'deleted file mode':
      delete file.newPath
      file.oldMode = rest
      return
    case 'rename from':
    case 'copy from':
      file.oldPath = unquoted(rest)
      file.move = word === 'rename from' ? 'renamed' : 'copied'
      return
    case 'rename to':
    case 'copy to':
      file.newPath = unquoted(rest)
      return
    case 'Binary files':
    case 'GIT binary patch':
      file.isBinary = true
      return
  }
}
