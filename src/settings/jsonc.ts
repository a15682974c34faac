import type { Source } from './fault.ts'
import { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser'
import { SettingsError } from './fault.ts'

/** Parses JSON with comments and trailing commas, and keeps the line of each key. */
export function parseJsonc(file: string, text: string): Source {
  const errors: { error: number; offset: number; length: number }[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const line = (offset: number) => text.slice(0, offset).split('\n').length
  const [first] = errors
  if (first || !tree) {
    const words = first
      ? printParseErrorCode(first.error)
          .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
          .toLowerCase()
      : 'it is empty'
    throw new SettingsError(file, first ? line(first.offset) : 1, '', `is not JSON: ${words}`)
  }
  return {
    value: getNodeValue(tree),
    lineOf(path) {
      const node = findNodeAtLocation(tree, [...path])
      return node && line((node.parent?.type === 'property' ? node.parent : node).offset)
    },
  }
}
