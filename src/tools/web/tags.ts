import { unescaped } from './entities.ts'

export type Piece =
  { type: 'text'; text: string } | { type: 'open' | 'close'; tag: string; attribute(name: string): string | undefined }

/** What is in these is not for readers, and is not read as tags either. */
const silent = new Set(['script', 'style', 'noscript', 'svg', 'template', 'iframe', 'object', 'select', 'canvas'])

/** Cuts a page into texts and tags, from left to right and once: no page, however broken, takes longer than its length. */
export function* pieces(html: string): Generator<Piece> {
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

/** The `>` that ends a tag: one inside quotes does not. */
function tagEnd(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const char = html[at]!
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '>') return at
    else if ((char === '"' || char === "'") && /[\s=]/.test(html[at - 1]!)) quote = char
  }
  // A quote that is never closed: the tag ends where it would without it.
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
