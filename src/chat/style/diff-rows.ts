import type { DiffLine } from './diff-lines.ts'
import type { Colour } from './highlight.ts'
import type { Paint, Theme } from './theme.ts'
import { exactText } from '../../questions/question-text.ts'
import { safeText } from './safe-text.ts'
import { wrapped } from './screen-text.ts'

type DiffLook = {
  theme: Theme
  /** The file, whose ending says its language. */
  path: string
  /** Colours code; undefined until it is loaded. */
  colour: Colour | undefined
}

const signs = { added: '+', removed: '-', same: ' ', skip: ' ' } as const

/** Numbers would leave too little room for the text on a narrower screen. */
const narrow = 30

/** Longer lines, and parts of a diff with more characters, keep one colour: nobody reads them as code, and colouring them takes time. */
const longestLine = 1_000
const longestPart = 20_000

/**
 * The rows of each line of a diff: the number of the line, its sign, and its text with every character visible. Without colours the sign
 * says what changes. Removed lines are red as a whole, all others have the colours of their language.
 */
export function diffRows(lines: readonly DiffLine[], width: number, look: DiffLook): string[][] {
  const { theme } = look
  const base = { added: theme.added, removed: theme.removed, same: none, skip: theme.quiet }
  const widest = Math.max(0, ...lines.map(({ at = 0 }) => (at > 0 ? String(at).length : 0)))
  const digits = width < narrow ? 0 : widest
  const bodies = paintedLines(lines, base, look)
  return lines.map(({ type, at }, index) => {
    const number = digits === 0 ? '' : `${String(at ?? '').padStart(digits)} `
    const lead = `${number}${signs[type]} `
    const paint = type === 'same' ? theme.quiet : base[type]
    const margin = ' '.repeat(lead.length)
    const rows = wrapped(bodies[index]!, Math.max(1, width - lead.length))
    return rows.map((row, nth) => (nth === 0 ? paint(lead) : margin) + row)
  })
}

const none: Paint = (text) => text

/** The texts of all lines in their colours. Each part of a diff is coloured alone, without its removed lines. */
function paintedLines(
  lines: readonly DiffLine[],
  base: Record<DiffLine['type'], Paint>,
  { theme, path, colour }: DiffLook,
): string[] {
  const texts = lines.map(({ text }) => shownText(text))
  const painted = lines.map(({ type }, index) => base[type](texts[index]!))
  const language = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase()
  if (!colour || language === undefined) return painted
  let part: number[] = []
  const flush = () => {
    const code = part.map((index) => texts[index]!)
    const small = code.join('\n').length <= longestPart && code.every((text) => text.length <= longestLine)
    const paints = part.map((index) => base[lines[index]!.type])
    const coloured = part.length > 0 && small ? colour(code.join('\n'), language, theme, paints) : undefined
    coloured?.forEach((text, nth) => (painted[part[nth]!] = text))
    part = []
  }
  for (const [index, { type }] of lines.entries())
    if (type === 'skip') flush()
    else if (type !== 'removed') part.push(index)
  flush()
  return painted
}

/** A line of a file: tabs are four columns, and control characters have their pictures. */
const shownText = (text: string) => safeText(exactText(text)).replaceAll('\n', '␊')
