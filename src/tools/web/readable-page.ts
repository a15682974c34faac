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
  #line = ''

  add(text: string, literal: boolean): void {
    if (!literal) {
      const flat = text.replace(/\s+/g, ' ')
      this.#line += /\s$/.test(this.#line) || this.#line === '' ? flat.trimStart() : flat
      return
    }
    const parts = text.split('\n')
    for (const part of parts.slice(0, -1)) {
      this.#done.push(this.#line + part)
      this.#line = ''
    }
    this.#line += parts.at(-1)!
  }

  end(gap = false): void {
    const line = this.#line.trimEnd()
    if (!/^(?:-|#+)?$/.test(line)) this.#done.push(line)
    this.#line = ''
    if (gap && this.#done.length > 0 && this.#done.at(-1) !== '') this.#done.push('')
  }

  cell(): void {
    if (this.#line.trim() !== '') this.#line = `${this.#line.trimEnd()} | `
  }

  mark(): number {
    return this.#line.length
  }

  /** Adds a link's address after its text, if the text is still on this line. */
  close({ href, from }: { href: string; from: number }): void {
    const said = this.#line.slice(from)
    if (said.trim() === '' || from > this.#line.length) return
    const space = /^\s*/.exec(said)![0]
    this.#line = `${this.#line.slice(0, from)}${space}[${said.trim()}](${href})`
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

/** Elements whose content is not for readers, and is not parsed as tags either. */
const silent = new Set(['script', 'style', 'noscript', 'svg', 'template', 'iframe', 'object', 'select', 'canvas'])

/** Cuts a page into texts and tags in one pass, so that even a broken page takes time in proportion to its length. */
function* pieces(html: string): Generator<Piece> {
  for (let at = 0; at < html.length;) {
    const tag = html.indexOf('<', at)
    if (tag < 0) return yield { type: 'text', text: unescaped(html.slice(at)) }
    if (tag > at) yield { type: 'text', text: unescaped(html.slice(at, tag)) }
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
  return value === undefined ? undefined : unescaped(value)
}

const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  rarr: '→',
  larr: '←',
  deg: '°',
  euro: '€',
  pound: '£',
  sect: '§',
  para: '¶',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
}

/** Replaces character references by their characters; keeps unknown ones. */
function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name as string] ?? whole
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole
  })
}
