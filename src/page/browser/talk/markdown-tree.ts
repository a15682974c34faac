import { cellsOf, isTableHead, isTableRow } from '../../../chat/transcript/markdown/markdown-tables.ts'

export type Inline =
  | string
  | { type: 'code'; text: string }
  | { type: 'strong' | 'em' | 'strike'; parts: Inline[] }
  /** A link that may be opened. */
  | { type: 'link'; href: string; parts: Inline[] }
  | { type: 'picture'; words: string }
  | { type: 'break' }

type Align = 'left' | 'right' | 'center'

export type MarkdownBlock =
  | { type: 'heading'; level: number; parts: Inline[] }
  | { type: 'paragraph'; parts: Inline[] }
  | { type: 'code'; language: string; text: string }
  | { type: 'list'; start?: number; items: { checked?: boolean; blocks: MarkdownBlock[] }[] }
  | { type: 'quote'; blocks: MarkdownBlock[] }
  | { type: 'table'; aligns: Align[]; heads: Inline[][]; rows: Inline[][][] }
  | { type: 'rule' }

/** Quotes and lists that are nested more deeply are shown as text. */
const deepest = 8
/** A longer paragraph is shown unchanged: searching it for marks would take too long. */
const longestMarked = 20_000

const fenceMark = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*$/
const headingMark = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/
const ruleMark = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const quoteMark = /^ {0,3}> ?/
const itemMark = /^( *)([-*+]|\d{1,9}[.)])( +|$)/

/** Parses a Markdown text into a tree, which a page draws with text nodes only. Unknown marks stay text. */
export function markdownTree(text: string): MarkdownBlock[] {
  return blocksOf(text.split('\n'), 0)
}

function blocksOf(lines: readonly string[], depth: number): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!
    const found = line.trim() === '' ? { to: at + 1 } : blockAt(lines, at, depth)
    if ('block' in found) blocks.push(found.block)
    at = found.to
  }
  return blocks
}

type Found = { block: MarkdownBlock; to: number }

function blockAt(lines: readonly string[], at: number, depth: number): Found {
  const line = lines[at]!
  const fence = fenceMark.exec(line)
  if (fence) return codeAt(lines, at, fence)
  const heading = headingMark.exec(line)
  if (heading)
    return { block: { type: 'heading', level: heading[1]!.length, parts: inlineParts(heading[2] ?? '') }, to: at + 1 }
  if (ruleMark.test(line)) return { block: { type: 'rule' }, to: at + 1 }
  if (depth < deepest && quoteMark.test(line)) return quoteAt(lines, at, depth)
  if (depth < deepest && itemMark.test(line)) return listAt(lines, at, depth)
  const below = lines[at + 1]
  if (below !== undefined && isTableHead(line, below)) return tableAt(lines, at)
  return paragraphAt(lines, at, depth)
}

function codeAt(lines: readonly string[], at: number, [, margin, mark, language]: RegExpExecArray): Found {
  const isEnd = (line: string) => {
    const word = line.trim()
    return word.length >= mark!.length && word === mark![0]!.repeat(word.length)
  }
  let end = at + 1
  while (end < lines.length && !isEnd(lines[end]!)) end++
  const indent = new RegExp(`^ {0,${margin!.length}}`)
  const text = lines
    .slice(at + 1, end)
    .map((line) => line.replace(indent, ''))
    .join('\n')
  return { block: { type: 'code', language: language!, text }, to: end + 1 }
}

function quoteAt(lines: readonly string[], at: number, depth: number): Found {
  let end = at
  while (end < lines.length && quoteMark.test(lines[end]!)) end++
  const inside = lines.slice(at, end).map((line) => line.replace(quoteMark, ''))
  return { block: { type: 'quote', blocks: blocksOf(inside, depth + 1) }, to: end }
}

/** Parses the items of a list, each with the lines that are indented below it. */
function listAt(lines: readonly string[], at: number, depth: number): Found {
  const [, margin = '', mark = ''] = itemMark.exec(lines[at]!)!
  const isOrdered = /\d/.test(mark)
  const items: { checked?: boolean; blocks: MarkdownBlock[] }[] = []
  let to = at
  while (to < lines.length) {
    const begun = itemMark.exec(lines[to]!)
    if (!begun || begun[1]!.length !== margin.length || /\d/.test(begun[2]!) !== isOrdered || ruleMark.test(lines[to]!))
      break
    const column = Math.min(begun[0].length, margin.length + begun[2]!.length + 4)
    const own = [lines[to]!.slice(begun[0].length)]
    let end = to + 1
    for (; end < lines.length; end++) {
      const line = lines[end]!
      const indent = line.length - line.trimStart().length
      if (line.trim() === '') {
        const next = nextWords(lines, end)
        const words = lines[next] ?? ''
        if (words.length - words.trimStart().length <= margin.length) break
        own.push('')
        end = next - 1
      } else if (indent > margin.length) own.push(line.slice(Math.min(indent, column)))
      else if (itemMark.test(line) || lines[end - 1]!.trim() === '' || beginsBlock(line)) break
      else own.push(line)
    }
    const task = /^\[([ xX])\] /.exec(own[0]!)
    if (task) own[0] = own[0]!.slice(4)
    const blocks = blocksOf(own, depth + 1)
    items.push(task ? { checked: task[1] !== ' ', blocks } : { blocks })
    // An empty line between two items belongs to the list.
    to = lines[end]?.trim() === '' && itemMark.exec(lines[end + 1] ?? '')?.[1]!.length === margin.length ? end + 1 : end
  }
  const block: MarkdownBlock = { type: 'list', items }
  return { block: isOrdered ? { ...block, start: Number.parseInt(mark, 10) } : block, to }
}

/** The index of the next line that is not empty. */
function nextWords(lines: readonly string[], from: number): number {
  let at = from
  while (at < lines.length && lines[at]!.trim() === '') at++
  return at
}

function tableAt(lines: readonly string[], at: number): Found {
  const heads = cellsOf(lines[at]!)
  const aligns = cellsOf(lines[at + 1]!).map((cell): Align =>
    !cell.endsWith(':') ? 'left' : cell.startsWith(':') ? 'center' : 'right',
  )
  let end = at + 2
  while (end < lines.length && isTableRow(lines[end]!)) end++
  const rows = lines.slice(at + 2, end).map((line) => {
    const cells = cellsOf(line)
    return heads.map((_, column) => inlineParts(cells[column] ?? ''))
  })
  return { block: { type: 'table', aligns, heads: heads.map(inlineParts), rows }, to: end }
}

const beginsBlock = (line: string) =>
  fenceMark.test(line) || headingMark.test(line) || ruleMark.test(line) || quoteMark.test(line)

function paragraphAt(lines: readonly string[], at: number, depth: number): Found {
  let end = at + 1
  while (end < lines.length) {
    const line = lines[end]!
    if (line.trim() === '' || beginsBlock(line) || (depth < deepest && /^ {0,3}(?:[-*+]|1[.)])\s/.test(line))) break
    if (lines[end + 1] !== undefined && isTableHead(line, lines[end + 1]!)) break
    end++
  }
  return { block: { type: 'paragraph', parts: inlineParts(lines.slice(at, end).join('\n').trim()) }, to: end }
}

const inlineMark = new RegExp(
  [
    '\\\\(?<escaped>[!-/:-@\\[-`{-~])',
    '(?<!`)(?<ticks>`{1,3})(?!`)(?<code>[^]{0,2000}?[^`])\\k<ticks>(?!`)',
    '(?<bang>!?)\\[(?<label>[^\\[\\]]{0,500})\\]\\(\\s{0,3}<?(?<href>[^\\s()<>]{1,2000}(?:\\([^\\s()<>]{0,200}\\)[^\\s()<>]{0,200})?)>?(?:\\s+"[^"]{0,200}")?\\s{0,3}\\)',
    '(?<address>https?://[^\\s<>"\'`]{1,2000})',
    '(?<!\\*)\\*\\*(?=\\S)(?<strong>[^]{0,2000}?\\S)\\*\\*(?!\\*)',
    '(?<!\\w)__(?=[^\\s_])(?<strong2>[^]{0,2000}?\\S)__(?!\\w)',
    '(?<!~)~~(?=[^\\s~])(?<strike>[^]{0,2000}?\\S)~~',
    '\\*(?=[^\\s*])(?<em>[^*]{0,2000}?[^\\s*])\\*(?!\\*)',
    '(?<!\\w)_(?=[^\\s_])(?<em2>[^_]{0,2000}?[^\\s_])_(?!\\w)',
    '(?<line> {2,}\\n|\\\\\\n)',
  ].join('|'),
  'g',
)

/** Parses the marks inside a paragraph. */
export function inlineParts(text: string, depth = 0): Inline[] {
  if (text.length > longestMarked || depth > 4) return text === '' ? [] : [text]
  const parts: Inline[] = []
  const say = (words: string) => {
    if (words === '') return
    if (typeof parts.at(-1) === 'string') parts.push(`${parts.pop() as string}${words}`)
    else parts.push(words)
  }
  let from = 0
  for (const match of text.matchAll(inlineMark)) {
    say(text.slice(from, match.index))
    from = match.index + match[0].length
    const { escaped, code, bang, label, href, address, strong, strong2, strike, em, em2, line } = match.groups!
    const inner = (words: string) => inlineParts(words, depth + 1)
    if (escaped !== undefined) say(escaped)
    else if (code !== undefined) parts.push({ type: 'code', text: code.replace(/^ (.*[^ ].*) $/s, '$1') })
    else if (href !== undefined) parts.push(...linkParts(bang === '!', label!, href, inner))
    else if (address !== undefined) {
      const end = /[.,;:!?)\]}'*_~]+$/.exec(address)?.index ?? address.length
      parts.push({ type: 'link', href: address.slice(0, end), parts: [address.slice(0, end)] })
      say(address.slice(end))
    } else if (line !== undefined) parts.push({ type: 'break' })
    else if (strike !== undefined) parts.push({ type: 'strike', parts: inner(strike) })
    else if (em !== undefined || em2 !== undefined) parts.push({ type: 'em', parts: inner((em ?? em2)!) })
    else parts.push({ type: 'strong', parts: inner((strong ?? strong2)!) })
  }
  say(text.slice(from))
  return parts
}

const followed = new Set(['http:', 'https:', 'mailto:'])

/** A link if a page may open its address; otherwise its label and the address as text. Pictures are never loaded. */
function linkParts(isPicture: boolean, label: string, href: string, inner: (text: string) => Inline[]): Inline[] {
  if (isPicture) return [{ type: 'picture', words: label === '' ? href : label }]
  const { protocol } = URL.parse(href) ?? {}
  if (protocol !== undefined && followed.has(protocol)) return [{ type: 'link', href, parts: inner(label) }]
  return label === href ? [href] : [...inner(label), ` (${href})`]
}
