import type { FileChange } from '../../../core/talk/entry.ts'
import type { Look } from './look.ts'
import { harmless, indented, wrapped } from './text.ts'

const mostLines = 400
const signs = { added: '+ ', removed: '- ', same: '  ', skip: '  ' } as const

/** How many lines a change adds and removes; undefined until that is known. */
export function countsOf(change: FileChange, look: Look): { added: number; removed: number } | undefined {
  const lines = look.late.diff(change)
  if (!lines) return undefined
  const count = (type: 'added' | 'removed') => lines.filter((line) => line.type === type).length
  return { added: count('added'), removed: count('removed') }
}

/** What a call changed in one file, in colours. */
export function changeLines(change: FileChange, width: number, look: Look): string[] {
  const { theme } = look
  const lines = look.late.diff(change)
  if (!lines) return [theme.quiet('…')]
  const paints = { added: theme.added, removed: theme.removed, same: theme.quiet, skip: theme.quiet }
  const shown = lines
    .slice(0, mostLines)
    .flatMap(({ type, text }) =>
      indented(wrapped(harmless(text.slice(0, 2000)), width - 2), '  ', signs[type]).map(paints[type]),
    )
  const more = lines.length - mostLines
  return more > 0 ? [...shown, theme.quiet(`… ${more} more lines; /diff shows all`)] : shown
}
