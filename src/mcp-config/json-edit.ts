import type { Node } from 'jsonc-parser'

/** Each of these changes one property and not one byte more; what it adds looks like what stands around it. */

export function replaced(text: string, value: Node, by: unknown): string {
  return splice(
    text,
    value.offset,
    value.length,
    written(by, text, indentAt(text, value.offset), isFlat(text, value.parent!.parent!)),
  )
}

/** Behind the last property; before its trailing comma, where there is one, which then is ours. */
export function inserted(text: string, holder: Node, key: string, value: unknown): string {
  const last = holder.children?.at(-1)
  const flat = last ? isFlat(text, holder) : false
  const inner = last ? indentAt(text, last.offset) : indentAt(text, holder.offset) + unitOf(text)
  const property = `${JSON.stringify(key)}: ${written(value, text, inner, flat)}`
  const eol = eolOf(text)
  if (last && flat) return splice(text, last.offset + last.length, 0, `, ${property}`)
  if (last) {
    const end = last.offset + last.length
    // What is said behind the last property stays behind it.
    const [remark = '', comma] =
      /^([ \t]*,)?[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*\*\/)[ \t]*(?=\r?\n)/.exec(text.slice(end)) ?? []
    const lines = `${eol}${inner}${property}`
    return splice(text, end, remark.length, comma ? `${remark}${lines},` : `,${remark}${lines}`)
  }
  const body = text.slice(holder.offset + 1, holder.offset + holder.length - 1)
  const close = `${eol}${indentAt(text, holder.offset)}`
  // Comments in an otherwise empty object stay in it.
  return body.trim() === ''
    ? splice(text, holder.offset + 1, body.length, `${eol}${inner}${property}${close}`)
    : splice(text, holder.offset + 1, 0, `${eol}${inner}${property}`)
}

/** With one comma, and the line that it stood on alone. */
export function removed(text: string, property: Node): string {
  const siblings = property.parent!.children!
  const before = siblings[siblings.indexOf(property) - 1]
  const lead = /(\r?\n)?[ \t]*$/.exec(text.slice(0, property.offset))![0].length
  // On a line with others, the space behind the comma parted it from the next.
  const behind = isFlat(text, property.parent!) ? /^\s*,\s*/ : /^\s*,/
  const comma = behind.exec(text.slice(property.offset + property.length))?.[0].length ?? 0
  const start = property.offset - lead
  const length = lead + property.length + comma
  const without = splice(text, start, length, '')
  const only = siblings.length === 1 ? tidied(without, property.parent!, length) : without
  if (comma > 0 || !before) return only
  return splice(only, commaAfter(text, before.offset + before.length), 1, '')
}

/** An object that is empty then is written as one. */
function tidied(text: string, holder: Node, less: number): string {
  const inside = holder.length - less - 2
  return text.slice(holder.offset + 1, holder.offset + 1 + inside).trim() === ''
    ? splice(text, holder.offset + 1, inside, '')
    : text
}

/** Comments may stand before it, and hold commas of their own. */
function commaAfter(text: string, from: number): number {
  const gap = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
  gap.lastIndex = from
  return from + gap.exec(text)![0].length
}

function written(value: unknown, text: string, indent: string, flat: boolean): string {
  if (flat) return JSON.stringify(value)
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eolOf(text) + indent)
}

const isFlat = (text: string, { offset, length }: Node) => !text.slice(offset, offset + length).includes('\n')

const splice = (text: string, at: number, length: number, by: string) =>
  text.slice(0, at) + by + text.slice(at + length)

const eolOf = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')

/** What one step further in is, in this file. */
const unitOf = (text: string) => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '

/** What the line at a place begins with. */
const indentAt = (text: string, at: number) => /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, at))![1]!
