import type { FileChange } from '../talk/entry.ts'
import type { Shown } from '../talk/question.ts'
import { defined } from '../../base/defined.ts'
import { gitHeaderPaths } from '../data/diff-paths.ts'
import { partMark } from '../talk/question.ts'

/** "@@ -12,4 +12,5 @@"; a hunk without numbers begins with "@@" alone. */
const hunkHead = /^@@(?: -(\d+)(?:,\d+)? \+(\d+))?/

/** The two sides of a unified diff as far as it shows them; a mark on both sides replaces the lines that the diff leaves out. */
export function diffSides(diff: string): Pick<FileChange, 'before' | 'after' | 'starts'> & { before: string } {
  const before: string[] = []
  const after: string[] = []
  const starts: [number, number][] = []
  let numbered = true
  let bare: readonly (readonly string[])[] = []
  let last = ''
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const [mark, text] = [line[0], line.slice(1)]
    if (mark === '@') {
      const [, old, now] = hunkHead.exec(line) ?? []
      numbered &&= now !== undefined
      starts.push([Number(old), Number(now)])
      if (before.length + after.length === 0) continue
      before.push(partMark)
      after.push(partMark)
    } else if (mark === '-') before.push(text)
    else if (mark === '+') after.push(text)
    // "\ No newline at end of file" is about the line above it, which is the last one of its side.
    else if (mark === '\\') bare = [...bare, ...(last === '-' ? [before] : last === '+' ? [after] : [before, after])]
    else {
      before.push(text)
      after.push(text)
    }
    last = mark ?? ''
  }
  const ended = (lines: readonly string[]) =>
    lines.join('\n') + (lines.length === 0 || bare.includes(lines) ? '' : '\n')
  const sides = { before: ended(before), after: ended(after) }
  return numbered && starts.length > 0 ? { ...sides, starts } : sides
}

/**
 * The changes of a patch in git's format, as the content of a question: a diff for each file, or the file's header if no line changes.
 */
export function shownPatch(patch: string): Shown[] {
  return patch.split(/^(?=diff --git )/m).flatMap((section): Shown[] => {
    if (section.trim() === '') return []
    const hunks = /^@@[^]*/m.exec(section)?.[0]
    const names = /^diff --git (.*)/.exec(section)?.[1]
    if (hunks === undefined || names === undefined) return [{ type: 'text', text: section.trimEnd() }]
    const isNew = /^--- \/dev\/null$/m.test(section.slice(0, section.indexOf('\n@@')))
    const { before, ...sides } = diffSides(hunks)
    const path = gitHeaderPaths(names).newPath
    return [defined<Shown>({ type: 'diff', path, before: isNew ? undefined : before, ...sides })]
  })
}
