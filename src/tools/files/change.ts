import type { FileChange } from '../../core/talk/entry.ts'

/** A change that is longer than this is shown only where it changes something. */
const longestSide = 24 * 1024

const context = 3

/** A change as it is kept with its result: two whole texts, or, of long ones, what lies around the change. */
export function shownChange(path: string, before: string | undefined, after: string): FileChange {
  if (before === undefined) return { path, after: cutAfter(after) }
  if (before.length <= longestSide && after.length <= longestSide) return { path, before, after }
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  const most = Math.min(old.length, fresh.length) - head
  while (tail < most && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++
  const around = (lines: readonly string[]) => {
    const from = Math.max(0, head - context)
    const to = Math.min(lines.length, lines.length - tail + context)
    const above = from > 0 ? ['⋮'] : []
    const below = to < lines.length ? ['⋮'] : []
    return cutAfter([...above, ...lines.slice(from, to), ...below].join('\n'))
  }
  return { path, before: around(old), after: around(fresh) }
}

function cutAfter(text: string): string {
  return text.length <= longestSide ? text : `${text.slice(0, longestSide)}\n⋮`
}
