import type { Node } from 'jsonc-parser'
import type { Format } from './format.ts'
import { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser'
import { Unfit } from './format.ts'
import { inserted, removed, replaced } from './json-edit.ts'

/** JSON, with comments and trailing commas where a program takes them. */
export const jsonFormat: Format = {
  find(text, path) {
    const node = findNodeAtLocation(rootOf(text), [...path])
    // The parser's objects have no prototype, which makes them unlike all others.
    return node && (JSON.parse(JSON.stringify(getNodeValue(node))) as unknown)
  },
  put(text, path, entry) {
    if (bare(text).trim() === '') return `${JSON.stringify(nested(path, entry), null, 2)}\n`
    const root = rootOf(text)
    refuseOtherShapes(root, path)
    const there = findNodeAtLocation(root, [...path])
    if (there) return marked(text, (body) => replaced(body, there, entry))
    // The innermost object that is there takes all that is missing.
    let depth = path.length - 1
    while (depth > 0 && !findNodeAtLocation(root, path.slice(0, depth))) depth--
    const holder = findNodeAtLocation(root, path.slice(0, depth)) ?? root
    return marked(text, (body) => inserted(body, holder, path[depth]!, nested(path.slice(depth + 1), entry)))
  },
  take(text, path) {
    const entry = findNodeAtLocation(rootOf(text), [...path])
    if (!entry) return text
    const property = entry.parent!
    // An object that held nothing else was made for the entry.
    const holder = property.parent!
    const alone = holder.children!.length === 1 && holder.parent?.type === 'property'
    return marked(text, (body) => removed(body, alone ? holder.parent! : property))
  },
}

/** An editor's mark before the text is no part of it. */
const bare = (text: string) => text.replace(/^\uFEFF/, '')

const marked = (text: string, edit: (body: string) => string) =>
  text.slice(0, text.length - bare(text).length) + edit(bare(text))

function rootOf(text: string): Node {
  const errors: { error: number; offset: number; length: number }[] = []
  const body = bare(text).trim() === '' ? '{}' : bare(text)
  const root = parseTree(body, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first || !root) {
    const line = body.slice(0, first?.offset ?? 0).split('\n').length
    const what = printParseErrorCode(first?.error ?? 0).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    throw new Unfit(`is not JSON (line ${line}: ${what.toLowerCase()}); mend it first`)
  }
  return root
}

function refuseOtherShapes(root: Node, path: readonly string[]): void {
  for (let depth = 0; depth < path.length; depth++) {
    const node = findNodeAtLocation(root, path.slice(0, depth))
    if (node && node.type !== 'object')
      throw new Unfit(`holds no object ${depth === 0 ? 'at its top' : `under ${path.slice(0, depth).join('.')}`}`)
  }
}

const nested = (path: readonly string[], entry: unknown): unknown =>
  path.reduceRight((inner, key) => ({ [key]: inner }), entry)
