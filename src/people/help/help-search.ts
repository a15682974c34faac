import type { HelpPage, HelpSection } from './help-pages.ts'
import { nearest } from '../../base/text/nearest.ts'
import { sectionsOf } from './help-pages.ts'

/** The result of a search in the pages: a whole page, the best section with further ones, or only similar names. */
type HelpFound =
  | { type: 'page'; page: HelpPage }
  | { type: 'section'; best: HelpSection; others: readonly HelpSection[] }
  | { type: 'nothing'; near: readonly string[] }

/** How many further sections are named. */
const mostOthers = 8

/** Finds help by the name of a page, by the name of a page and words in it, or by words in all pages. */
export function findHelp(pages: readonly HelpPage[], asked: readonly string[]): HelpFound {
  const words = asked.flatMap((word) => word.toLowerCase().split(/\s+/)).filter((word) => word !== '')
  const named = pageNamed(pages, words.join('-'))
  if (named) return { type: 'page', page: named }
  const [first = '', ...rest] = words
  const page = rest.length > 0 ? pageNamed(pages, first) : undefined
  const inside = page ? search([page], rest) : []
  const [best, ...others] = inside.length > 0 ? inside : search(pages, words)
  if (best) return { type: 'section', best, others: others.slice(0, mostOthers) }
  const near = words.map((word) =>
    nearest(
      word,
      pages.map(({ name }) => name),
    ),
  )
  return { type: 'nothing', near: [...new Set(near.filter((name) => name !== undefined))] }
}

/** Says that nothing was found, and lists similar names. */
export function noHelpWords(asked: string, near: readonly string[]): string {
  const meant = near.length > 0 ? ` Did you mean ${near.map((name) => `"${name}"`).join(' or ')}?` : ''
  return `there is no help about "${asked}".${meant}`
}

/** The page with a name, with or without its folder and its extension; a dash and a space are equal. */
export function pageNamed(pages: readonly HelpPage[], asked: string): HelpPage | undefined {
  const wanted = asked
    .toLowerCase()
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
  const full = ({ name, isReference }: HelpPage) =>
    isReference ? `reference/${name.replace(/^reference\//, '')}` : name
  return (
    pages.find(({ name }) => name === wanted) ??
    pages.find((page) => full(page) === wanted) ??
    pages.find(({ title }) => title.toLowerCase().replaceAll(/\s+/g, '-') === wanted)
  )
}

/** The sections that contain all words, the best first; if no section contains all, those with the most of them. */
function search(pages: readonly HelpPage[], words: readonly string[]): HelpSection[] {
  if (words.length === 0) return []
  const patterns = words.map((word) => new RegExp(`(?<![\\p{L}\\d])${escaped(word)}`, 'giu'))
  // The pages are in the order of the table of contents, which begins with the most important ones.
  const weights = new Map(pages.map((page, at) => [page, page.isReference ? 0.25 : 1 - (0.6 * at) / pages.length]))
  const judged = pages.flatMap(sectionsOf).flatMap((section) => {
    const scores = patterns.map((pattern) => scoreOf(section, pattern) * weights.get(section.page)!)
    const hits = scores.filter((score) => score > 0).length
    return hits === 0 ? [] : [{ section, hits, score: scores.reduce((sum, score) => sum + score, 0) }]
  })
  const most = Math.max(0, ...judged.map(({ hits }) => hits))
  // One matching word among many says little.
  if (most < words.length && most < 2) return []
  return judged
    .filter(({ hits }) => hits === most)
    .sort((a, b) => b.score - a.score)
    .map(({ section }) => section)
}

/** A word in a heading or in the name of the page counts more than one in the text. */
function scoreOf({ page, heading, text }: HelpSection, pattern: RegExp): number {
  const count = (within: string) => within.match(pattern)?.length ?? 0
  const inText = count(text)
  if (inText === 0) return 0
  const headings = (count(heading) > 0 ? 8 : 0) + (count(`${page.name} ${page.title}`) > 0 ? 5 : 0)
  // A long section contains almost every word.
  const share = Math.min(inText, 6) / Math.sqrt(1 + text.length / 1_500)
  return headings + share
}

const escaped = (word: string) => word.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('\\-', '-')

/** Tables with up to this many rows are shown whole. */
const fewRows = 8

/** A section with only those rows of its long tables that contain one of the words; a note mentions the rest. */
export function narrowedText({ text, page }: HelpSection, words: readonly string[]): string {
  const wanted = words.map((word) => word.toLowerCase())
  const has = (line: string) => wanted.some((word) => line.toLowerCase().includes(word))
  return text
    .split(/\n\s*\n/)
    .map((block) => {
      const [head, rule, ...rows] = block.split('\n')
      if (!head?.startsWith('|') || !rule?.startsWith('|-') || rows.length <= fewRows) return block
      const found = rows.filter(has)
      if (found.length === 0 || found.length === rows.length) return block
      return `${[head, rule, ...found].join('\n')}\n\nThe whole table: \`termaite help ${page.name}\``
    })
    .join('\n\n')
}
