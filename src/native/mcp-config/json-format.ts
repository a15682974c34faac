import type { Node } from 'jsonc-parser'
import type { ConfigFormat } from './config-format.ts'
import { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser'
import { UnusableConfig } from './config-format.ts'

/** JSON, with comments and trailing commas if a program accepts them. */
export const jsonFormat: ConfigFormat = {
  find(text, path) {
    const node = findNodeAtLocation(rootOf(text), [...path])
    // The parser's objects have no prototype, and would not equal a plain object.
    return node && (JSON.parse(JSON.stringify(getNodeValue(node))) as unknown)
  },
  put(text, path, entry) {
    if (bare(text).trim() === '') return `${JSON.stringify(nestEntry(path, entry), null, 2)}\n`
    const root = rootOf(text)
    refuseOtherShapes(root, path)
    const there = findNodeAtLocation(root, [...path])
    if (there) return editBehindMark(text, (body) => replaceValue(body, there, entry))
    // All missing keys are added to the innermost object that exists.
    let depth = path.length - 1
    while (depth > 0 && !findNodeAtLocation(root, path.slice(0, depth))) depth--
    const holder = findNodeAtLocation(root, path.slice(0, depth)) ?? root
    return editBehindMark(text, (body) =>
      insertProperty(body, holder, path[depth]!, nestEntry(path.slice(depth + 1), entry)),
    )
  },
  take(text, path) {
    const entry = findNodeAtLocation(rootOf(text), [...path])
    if (!entry) return text
    const property = entry.parent!
    // An object that contains nothing else was made for the entry, and is removed with it.
    const holder = property.parent!
    const alone = holder.children!.length === 1 && holder.parent?.type === 'property'
    return editBehindMark(text, (body) => removeProperty(body, alone ? holder.parent : property))
  },
}

/** The text without an editor's byte order mark. */
const bare = (text: string) => text.replace(/^\uFEFF/, '')

/** Edits a text after its byte order mark, which stays. */
export const editBehindMark = (text: string, edit: (body: string) => string) =>
  text.slice(0, text.length - bare(text).length) + edit(bare(text))

function rootOf(text: string): Node {
  const errors: { error: number; offset: number; length: number }[] = []
  const body = bare(text).trim() === '' ? '{}' : bare(text)
  const root = parseTree(body, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first || !root) {
    const line = body.slice(0, first?.offset ?? 0).split('\n').length
    const what = printParseErrorCode(first?.error ?? 0).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    throw new UnusableConfig(`is not JSON (line ${line}: ${what.toLowerCase()}); correct it first`)
  }
  return root
}

function refuseOtherShapes(root: Node, path: readonly string[]): void {
  for (let depth = 0; depth < path.length; depth++) {
    const node = findNodeAtLocation(root, path.slice(0, depth))
    if (node && node.type !== 'object')
      throw new UnusableConfig(
        `must hold an object ${depth === 0 ? 'at its top' : `under ${path.slice(0, depth).join('.')}`}; correct it first`,
      )
  }
}

const nestEntry = (path: readonly string[], entry: unknown): unknown =>
  path.reduceRight((inner, key) => ({ [key]: inner }), entry)

function replaceValue(text: string, value: Node, by: unknown): string {
  return splice(
    text,
    value.offset,
    value.length,
    writeValue(by, text, indentAt(text, value.offset), isFlat(text, value.parent!.parent!)),
  )
}

/** Adds a property after the last one, in the style of the file around it. A trailing comma stays at the end. */
function insertProperty(text: string, holder: Node, key: string, value: unknown): string {
  const last = holder.children?.at(-1)
  const flat = last ? isFlat(text, holder) : false
  const inner = last ? indentAt(text, last.offset) : indentAt(text, holder.offset) + unitOf(text)
  const property = `${JSON.stringify(key)}: ${writeValue(value, text, inner, flat)}`
  const eol = eolOf(text)
  if (last && flat) return splice(text, last.offset + last.length, 0, `, ${property}`)
  if (last) return withLineAfter(text, last, `${eol}${inner}${property}`)
  const body = text.slice(holder.offset + 1, holder.offset + holder.length - 1)
  const close = `${eol}${indentAt(text, holder.offset)}`
  // Comments in an otherwise empty object stay in it.
  return body.trim() === ''
    ? splice(text, holder.offset + 1, body.length, `${eol}${inner}${property}${close}`)
    : splice(text, holder.offset + 1, 0, `${eol}${inner}${property}`)
}

/** Adds a line after the last property or element. A comment after that one stays there, and a trailing comma stays last. */
export function withLineAfter(text: string, last: Node, line: string): string {
  const end = last.offset + last.length
  const [remark = '', comma] =
    /^([ \t]*,)?[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*\*\/)[ \t]*(?=\r?\n)/.exec(text.slice(end)) ?? []
  return splice(text, end, remark.length, comma ? `${remark}${line},` : `,${remark}${line}`)
}

/** Removes a property with one comma, and with its line if nothing else is on it. */
function removeProperty(text: string, property: Node): string {
  const siblings = property.parent!.children!
  const before = siblings[siblings.indexOf(property) - 1]
  const lead = /(\r?\n)?[ \t]*$/.exec(text.slice(0, property.offset))![0].length
  // On a shared line the space after the comma belongs to the property too.
  const behind = isFlat(text, property.parent!) ? /^\s*,\s*/ : /^\s*,/
  const comma = behind.exec(text.slice(property.offset + property.length))?.[0].length ?? 0
  const start = property.offset - lead
  const length = lead + property.length + comma
  const without = splice(text, start, length, '')
  const only = siblings.length === 1 ? tidyObject(without, property.parent!, length) : without
  if (comma > 0 || !before) return only
  return splice(only, commaAfter(text, before.offset + before.length), 1, '')
}

/** Writes an object that became empty as `{}`. */
function tidyObject(text: string, holder: Node, less: number): string {
  const inside = holder.length - less - 2
  return text.slice(holder.offset + 1, holder.offset + 1 + inside).trim() === ''
    ? splice(text, holder.offset + 1, inside, '')
    : text
}

/** Finds the comma after a place; comments before it may contain commas of their own. */
export function commaAfter(text: string, from: number): number {
  const gap = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
  gap.lastIndex = from
  return from + gap.exec(text)![0].length
}

/** Writes a value in the style of the surrounding text. */
export function writeValue(value: unknown, text: string, indent: string, flat: boolean): string {
  if (flat) return JSON.stringify(value)
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eolOf(text) + indent)
}

/** Whether an object or a list is on one line. */
export const isFlat = (text: string, { offset, length }: Node) => !text.slice(offset, offset + length).includes('\n')

export const splice = (text: string, at: number, length: number, by: string) =>
  text.slice(0, at) + by + text.slice(at + length)

export const eolOf = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n')

/** The file's indentation of one level. */
const unitOf = (text: string) => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '

/** The indentation of the line at a place. */
export const indentAt = (text: string, at: number) => /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, at))![1]!
