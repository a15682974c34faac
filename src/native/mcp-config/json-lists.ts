import type { Node } from 'jsonc-parser'
import { isDeepStrictEqual } from 'node:util'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import {
  commaAfter,
  eolOf,
  indentAt,
  isFlat,
  jsonFormat,
  editBehindMark,
  splice,
  withLineAfter,
  writeValue,
} from './json-format.ts'

/** Adds an item to the end of a list in a JSON file, and creates the list if it is missing. All other bytes stay unchanged. */
export function withItem(text: string, path: readonly string[], item: unknown): string {
  const list = jsonFormat.find(text, path)
  if (!Array.isArray(list)) return jsonFormat.put(text, path, [item])
  const edited = editBehindMark(text, (body) => withElement(body, listAt(body, path), item))
  return checkEdited(edited, path, [...list, item], text)
}

const listAt = (body: string, path: readonly string[]): Node =>
  findNodeAtLocation(parseTree(body, [], { allowTrailingComma: true })!, [...path])!

/** Adds an element after the last one, in the style of the list. */
function withElement(body: string, list: Node, item: unknown): string {
  const last = list.children?.at(-1)
  if (!last) return splice(body, list.offset, list.length, `[${JSON.stringify(item)}]`)
  if (isFlat(body, list)) return splice(body, last.offset + last.length, 0, `, ${JSON.stringify(item)}`)
  const indent = indentAt(body, last.offset)
  return withLineAfter(body, last, `${eolOf(body)}${indent}${writeValue(item, body, indent, false)}`)
}

/** Removes the first item of a list that equals `item`, and the list if it becomes empty. */
export function withoutItem(text: string, path: readonly string[], item: unknown): string {
  const list = jsonFormat.find(text, path)
  const at = Array.isArray(list) ? list.findIndex((one) => isDeepStrictEqual(one, item)) : -1
  if (!Array.isArray(list) || at < 0) return text
  if (list.length === 1) return jsonFormat.take(text, path)
  const edited = editBehindMark(text, (body) => withoutElement(body, path, at))
  return checkEdited(edited, path, list.toSpliced(at, 1), text)
}

/** Removes an element with one comma and the space before it. Comments around it stay. */
function withoutElement(body: string, path: readonly string[], at: number): string {
  const items = listAt(body, path).children!
  const { offset, length } = items[at]!
  const lead = /\s*$/.exec(body.slice(0, offset))![0].length
  const end = offset + length
  const comma = /^\s*,/.exec(body.slice(end))?.[0].length ?? 0
  const cut = splice(body, offset - lead, lead + length + comma, '')
  const before = items[at - 1]
  if (comma > 0 || !before) return cut
  // The comma of the last element is after the previous element, perhaps after a comment.
  return splice(cut, commaAfter(cut, before.offset + before.length), 1, '')
}

/** Returns the edited text if it contains the wanted list; otherwise writes the whole list again, which loses the comments in it. */
function checkEdited(edited: string, path: readonly string[], list: readonly unknown[], before: string): string {
  try {
    if (isDeepStrictEqual(jsonFormat.find(edited, path), list)) return edited
  } catch {
    // The edit broke the JSON: a comment is in an unusual place, such as between an element and its comma.
  }
  return jsonFormat.put(before, path, list)
}
