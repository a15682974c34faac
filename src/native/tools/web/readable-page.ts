import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'

const blocks = new Set(
  'p div section article main header footer nav aside ul ol dl dt dd table tr form fieldset figure figcaption blockquote pre hr h1 h2 h3 h4 h5 h6 li address details summary title'.split(
    ' ',
  ),
)

/** Turns a page into plain text that keeps its headings, lists, links and code. */
export function readable(html: string, base: URL): string {
  const lines = new Lines()
  let link: { href: string; from: number } | undefined
  let pre = 0
  for (const piece of pieces(html)) {
    if (piece.type === 'text') {
      lines.add(piece.text, pre > 0)
      continue
    }
    const { tag, type } = piece
    const opens = type === 'open'
    if (tag === 'pre') {
      lines.end()
      if (opens || pre > 0) lines.add('```\n', true)
      pre = Math.max(0, pre + (opens ? 1 : -1))
    } else if (pre > 0) {
      if (tag === 'br') lines.add('\n', true)
    } else if (tag === 'br') lines.end()
    else if (tag === 'a') {
      if (link) lines.close(link)
      const href = opens ? absolute(piece.attribute('href'), base) : undefined
      link = href === undefined ? undefined : { href, from: lines.mark() }
    } else if (tag === 'code') lines.add('`', true)
    else if (tag === 'img' && opens) {
      const alt = piece.attribute('alt')?.trim()
      if (alt) lines.add(`[${alt}]`, false)
    } else if ((tag === 'td' || tag === 'th') && opens) lines.cell()
    else if (blocks.has(tag)) {
      lines.end(/^(?:p|h\d|table|ul|ol|blockquote)$/.test(tag))
      if (opens && /^h[1-6]$/.test(tag)) lines.add(`${'#'.repeat(Number(tag[1]))} `, true)
      if (opens && tag === 'title') lines.add('# ', true)
      if (opens && tag === 'li') lines.add('- ', true)
    }
  }
  return lines.text()
}

/** Lays out text: a run of white space becomes one space, and there are never two empty lines in a row. */
class Lines {
  #done: string[] = []
  /** The pieces of the last line, none of them empty. They are joined when the line ends, because a whole page may be one line. */
  #line: string[] = []

  add(text: string, literal: boolean): void {
    if (!literal) {
      const flat = text.replace(/\s+/g, ' ')
      return this.#push(/\s/.test(this.#line.at(-1)?.at(-1) ?? ' ') ? flat.trimStart() : flat)
    }
    const parts = text.split('\n')
    for (const part of parts.slice(0, -1)) {
      this.#push(part)
      this.#done.push(this.#taken())
    }
    this.#push(parts.at(-1)!)
  }

  #push(piece: string): void {
    if (piece !== '') this.#line.push(piece)
  }

  #taken(): string {
    const line = this.#line.join('')
    this.#line = []
    return line
  }

  end(gap = false): void {
    const line = this.#taken().trimEnd()
    if (!/^(?:-|#+)?$/.test(line)) this.#done.push(line)
    if (gap && this.#done.length > 0 && this.#done.at(-1) !== '') this.#done.push('')
  }

  cell(): void {
    while (this.#line.at(-1)?.trim() === '') this.#line.pop()
    const last = this.#line.pop()
    if (last !== undefined) this.#line.push(last.trimEnd(), ' | ')
  }

  mark(): number {
    return this.#line.length
  }

  /** Adds a link's address after its text, if the text is still on this line. */
  close({ href, from }: { href: string; from: number }): void {
    const said = this.#line.slice(from).join('')
    if (said.trim() === '') return
    const space = /^\s*/.exec(said)![0]
    this.#line.length = from
    this.#line.push(`${space}[${said.trim()}](${href})`)
  }

  text(): string {
    this.end()
    return this.#done.join('\n').trim()
  }
}

function absolute(href: string | undefined, base: URL): string | undefined {
  if (!href || /^(?:#|javascript:|mailto:|data:)/i.test(href)) return undefined
  return URL.canParse(href, base) ? new URL(href, base).href : undefined
}

type Piece =
  | { type: 'text'; text: string }
  // The beginning or the end of an element.
  | { type: 'open' | 'close'; tag: string; attribute(name: string): string | undefined }

/** Elements whose content is not meant for readers, and is not parsed for tags either. */
const silent = new Set(['script', 'style', 'noscript', 'svg', 'template', 'iframe', 'object', 'select', 'canvas'])

/** Splits a page into texts and tags in one pass, so that even a broken page takes time in proportion to its length. */
function* pieces(html: string): Generator<Piece> {
  for (let at = 0; at < html.length;) {
    const tag = html.indexOf('<', at)
    if (tag < 0) return yield { type: 'text', text: decodeEntities(html.slice(at)) }
    if (tag > at) yield { type: 'text', text: decodeEntities(html.slice(at, tag)) }
    if (html.startsWith('<!--', tag)) {
      at = after(html, '-->', tag + 4)
      continue
    }
    const name = /^<(\/?)([a-zA-Z][a-zA-Z0-9-]*)/.exec(html.slice(tag, tag + 40))
    if (!name) {
      const declared = html[tag + 1] === '!' || html[tag + 1] === '?'
      if (!declared) yield { type: 'text', text: '<' }
      at = declared ? after(html, '>', tag) : tag + 1
      continue
    }
    const end = tagEnd(html, tag + name[0].length)
    const word = name[2]!.toLowerCase()
    const inside = html.slice(tag + name[0].length, end)
    at = end + 1
    if (silent.has(word) && !name[1] && !inside.endsWith('/')) at = afterClose(html, word, at)
    else yield { type: name[1] ? 'close' : 'open', tag: word, attribute: (wanted) => attribute(inside, wanted) }
  }
}

/** For the model, a hard space becomes an ordinary space, even in code. */
const decodeEntities = (text: string) => decodeHTML(text).replaceAll('\u00A0', ' ')

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from)
  return at < 0 ? html.length : at + mark.length
}

/** The `>` that ends a tag, outside quotes. */
function tagEnd(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const char = html[at]!
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '>') return at
    else if ((char === '"' || char === "'") && /[\s=]/.test(html[at - 1]!)) quote = char
  }
  // The quote is never closed: the tag ends as if the quote were not there.
  const plain = html.indexOf('>', from)
  return plain < 0 ? html.length : plain
}

function afterClose(html: string, tag: string, from: number): number {
  const found = new RegExp(`</${tag}[\\s>]`, 'gi')
  found.lastIndex = from
  const close = found.exec(html)
  return close ? after(html, '>', close.index) : html.length
}

function attribute(inside: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(inside)
  const value = found?.[1] ?? found?.[2] ?? found?.[3]
  return value === undefined ? undefined : decodeHTMLAttribute(value)
}
