import { pieces } from './tags.ts'

const blocks = new Set(
  'p div section article main header footer nav aside ul ol dl dt dd table tr form fieldset figure figcaption blockquote pre hr h1 h2 h3 h4 h5 h6 li address details summary title'.split(
    ' ',
  ),
)

/** A page as plain text that keeps its headings, lists, links and code: what a reader needs of it, and little more. */
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

/** Text as it is laid out: runs of white space are one space, and no two empty lines follow each other. */
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

  /** Puts the address behind what was said since the mark, where it is still on this line. */
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
