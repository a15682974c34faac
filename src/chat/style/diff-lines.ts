import type { Shown } from '../../core/talk/question.ts'

export type DiffLine = { type: 'added' | 'removed' | 'same' | 'skip'; text: string }

type Diff = Extract<Shown, { type: 'diff' }>

/**
 * How long a comparison may take: enough for every edit that a person reads. After this time the two texts are shown without a
 * comparison.
 */
const timeoutMs = 150

/** The changed lines with three lines of context. The first diff loads the library. */
export async function diffLines({ before = '', after }: Diff): Promise<DiffLine[]> {
  const patch = await import('diff').then(
    ({ structuredPatch }) =>
      structuredPatch('', '', before, after, undefined, undefined, { context: 3, timeout: timeoutMs }),
    () => undefined,
  )
  if (!patch) return [...allLines('removed', before), ...allLines('added', after)]
  return patch.hunks.flatMap(({ lines }, at) => [
    ...(at > 0 ? [{ type: 'skip' as const, text: '⋯' }] : []),
    ...lines.filter((line) => !line.startsWith('\\')).map(read),
  ])
}

function read(line: string): DiffLine {
  const type = line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : 'same'
  return { type, text: line.slice(1) }
}

function allLines(type: 'added' | 'removed', text: string): DiffLine[] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => ({ type, text: line }))
}
