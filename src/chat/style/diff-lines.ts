import type { DiffStarts, Shown } from '../../core/talk/question.ts'
import { partMark } from '../../core/talk/question.ts'

/** `at`: the number of the line in the file after the change, or before it if the line is removed; undefined if nobody knows it. */
export type DiffLine = { type: 'added' | 'removed' | 'same' | 'skip'; text: string; at?: number | undefined }

type Diff = Pick<Extract<Shown, { type: 'diff' }>, 'before' | 'after' | 'starts'>

/**
 * How long a comparison may take: enough for every edit that a person reads. After this time the two texts are shown without a
 * comparison.
 */
const timeoutMs = 150

/** The line below the last line of a text, if only one of the two texts ends with a line break. */
const noLineEnd = '\\ no line break at the end'

/** The changed lines with three lines of context. The first diff loads the library. */
export async function diffLines({ before = '', after, starts = [] }: Diff): Promise<DiffLine[]> {
  const [was, is] = withoutReturns(before, after)
  const patch = await import('diff').then(
    ({ structuredPatch }) => structuredPatch('', '', was, is, undefined, undefined, { context: 3, timeout: timeoutMs }),
    () => undefined,
  )
  const numbers = [numbersOf(was, starts, 0), numbersOf(is, starts, 1)] as const
  if (!patch) return [...allLines('removed', was, numbers[0]), ...allLines('added', is, numbers[1])]
  const endsDiffer = was !== '' && is !== '' && was.endsWith('\n') !== is.endsWith('\n')
  return patch.hunks.flatMap(({ oldStart, newStart, lines }, index) => {
    let [old, now] = [oldStart - 1, newStart - 1]
    const read = (line: string): DiffLine[] => {
      const text = line.slice(1)
      if (line.startsWith('\\')) return endsDiffer ? [{ type: 'skip', text: noLineEnd }] : []
      if (line.startsWith('-')) return [{ type: 'removed', text, at: numbers[0](old++) }]
      if (line.startsWith('+')) return [{ type: 'added', text, at: numbers[1](now++) }]
      old++
      return [{ type: 'same', text, at: numbers[1](now++) }]
    }
    return [...(index > 0 ? [{ type: 'skip' as const, text: '⋯' }] : []), ...lines.flatMap(read)]
  })
}

/** The number of each line of a text in its file, by the line's place in the text. */
function numbersOf(text: string, starts: DiffStarts, side: 0 | 1): (index: number) => number | undefined {
  const first = starts[0]?.[side]
  if (first === undefined) return () => undefined
  if (starts.length === 1) return (index) => first + index
  let part = 0
  let next: number | undefined = first
  const numbers = text.split('\n').map((line) => {
    if (line === partMark) {
      next = starts[++part]?.[side]
      return undefined
    }
    return next === undefined ? undefined : next++
  })
  return (index) => numbers[index]
}

/** The two texts without the returns before their line breaks, if all line breaks of both have one; else the returns are a part of the change. */
function withoutReturns(before: string, after: string): [before: string, after: string] {
  const plain = (text: string) => !/(?:^|[^\r])\n/.test(text)
  if (!after.includes('\r\n') && !before.includes('\r\n')) return [before, after]
  return plain(before) && plain(after)
    ? [before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n')]
    : [before, after]
}

function allLines(
  type: 'added' | 'removed',
  text: string,
  numberOf: (index: number) => number | undefined,
): DiffLine[] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, index) => ({ type, text: line, at: numberOf(index) }))
}
