import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'

/** A named export, because a bundle gives a dynamically imported CommonJS module only a default export. */
export { parse } from 'yaml'

/** A place in a file; both numbers begin at 1. */
type FilePlace = { line: number; column: number }

/** A parsed YAML or JSON text that knows the position of each value. */
export type LocatedValue = {
  value: unknown
  errors: (FilePlace & { words: string })[]
  /** The place of a field or an item, or of `words` in it; if it is missing, that of the nearest value around it. */
  placeOf(path: readonly (string | number)[], words?: string): FilePlace | undefined
}

export function parseLocated(text: string): LocatedValue {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const place = (offset: number): FilePlace => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const errors = document.errors.map(({ pos, message }) => ({
    ...place(pos[0]),
    words: message.split('\n')[0]!.replace(/ at line .*/, ''),
  }))
  let value: unknown
  try {
    value = errors.length === 0 ? document.toJS() : undefined
  } catch (error) {
    // Aliases that refer to themselves, or to far more text than the file has.
    errors.push({ line: 1, column: 1, words: error instanceof Error ? error.message : String(error) })
  }
  return {
    value,
    errors,
    placeOf(path, words) {
      for (let length = path.length; length >= 0; length--) {
        const offset = offsetOf(document, path.slice(0, length))
        if (offset === undefined) continue
        const found = words === undefined ? -1 : text.indexOf(words, offset)
        return place(Math.max(offset, found))
      }
      return undefined
    },
  }
}

/** Where a field's name or an item begins. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly (string | number)[]): number | undefined {
  const around = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true)
  const pair = isMap(around)
    ? around.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(path.at(-1)))
    : undefined
  const node = pair ? pair.key : document.getIn(path, true)
  return isNode(node) ? node.range?.[0] : undefined
}
