import type { Node } from 'jsonc-parser'
import { isDeepStrictEqual } from 'node:util'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import { jsonFormat } from './json-format.ts'

/** Adds an item at the end of a list in a JSON file, and makes the list where there is none. All other bytes stay as they are. */
export function withItem(text: string, path: readonly string[], item: unknown): string {
  const list = jsonFormat.find(text, path)
  if (!Array.isArray(list)) return jsonFormat.put(text, path, [item])
  const [mark, body] = split(text)
  return checked(mark + withElement(body, listAt(body, path), item), path, [...list, item], text)
}

const listAt = (body: string, path: readonly string[]): Node =>
  findNodeAtLocation(parseTree(body, [], { allowTrailingComma: true })!, [...path])!

/** Adds an element behind the last one, in the style of the list. A comment behind the last one stays behind it. */
function withElement(body: string, { offset, length, children = [] }: Node, item: unknown): string {
  const last = children.at(-1)
  const isFlat = !body.slice(offset, offset + length).includes('\n')
  if (!last) return splice(body, offset, length, `[${JSON.stringify(item)}]`)
  const end = last.offset + last.length
  if (isFlat) return splice(body, end, 0, `, ${JSON.stringify(item)}`)
  const eol = body.includes('\r\n') ? '\r\n' : '\n'
  const indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(body.slice(0, last.offset))![1]!
  const unit = /\n([ \t]+)\S/.exec(body)?.[1] ?? '  '
  const line = `${eol}${indent}${JSON.stringify(item, null, unit).replaceAll('\n', eol + indent)}`
  const [remark = '', comma] =
    /^([ \t]*,)?[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*\*\/)[ \t]*(?=\r?\n)/.exec(body.slice(end)) ?? []
  return splice(body, end, remark.length, comma ? `${remark}${line},` : `,${remark}${line}`)
}

const splice = (text: string, at: number, length: number, by: string) =>
  text.slice(0, at) + by + text.slice(at + length)

/** Removes the first item of a list that equals `item`, and a list that becomes empty by it. */
export function withoutItem(text: string, path: readonly string[], item: unknown): string {
  const list = jsonFormat.find(text, path)
  const at = Array.isArray(list) ? list.findIndex((one) => isDeepStrictEqual(one, item)) : -1
  if (!Array.isArray(list) || at < 0) return text
  if (list.length === 1) return jsonFormat.take(text, path)
  const [mark, body] = split(text)
  return checked(mark + withoutElement(body, path, at), path, list.toSpliced(at, 1), text)
}

/** Cuts an element out with one comma and the space before it. Comments around it stay. */
function withoutElement(body: string, path: readonly string[], at: number): string {
  const items = listAt(body, path).children!
  const { offset, length } = items[at]!
  const lead = /\s*$/.exec(body.slice(0, offset))![0].length
  const end = offset + length
  const comma = /^\s*,/.exec(body.slice(end))?.[0].length ?? 0
  const cut = body.slice(0, offset - lead) + body.slice(end + comma)
  const before = items[at - 1]
  if (comma > 0 || !before) return cut
  // The last element has its comma behind the one before it, perhaps after a comment that holds commas of its own.
  const gap = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
  gap.lastIndex = before.offset + before.length
  const there = gap.lastIndex + gap.exec(cut)![0].length
  return cut.slice(0, there) + cut.slice(there + 1)
}

/** Returns the edited text if it holds the wanted list; otherwise writes the whole list anew, which loses the comments in it. */
function checked(edited: string, path: readonly string[], list: readonly unknown[], before: string): string {
  try {
    if (isDeepStrictEqual(jsonFormat.find(edited, path), list)) return edited
  } catch {
    // The edit broke the JSON: a comment stands at an unusual place, such as between an element and its comma.
  }
  return jsonFormat.put(before, path, list)
}

/** An editor's byte order mark, and the text behind it. */
const split = (text: string): [mark: string, body: string] =>
  text.startsWith('\uFEFF') ? ['\uFEFF', text.slice(1)] : ['', text]
