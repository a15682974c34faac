import type { Source } from './fault.ts'
import { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser'
import { SettingsError, syntaxFaults } from './fault.ts'

const wordsOf = (code: number) =>
  `is not JSON: ${printParseErrorCode(code)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()}`

/** Parses JSON with comments and trailing commas, and remembers the line of each key. */
export function parseJsonc(file: string, text: string): Source {
  const errors: { error: number; offset: number; length: number }[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  const line = (offset: number) => text.slice(0, offset).split('\n').length
  if (errors.length === 0 && !tree)
    throw new SettingsError([{ file, line: 1, key: '', words: 'is not JSON: it is empty' }])
  if (errors.length > 0 || !tree)
    throw new SettingsError(
      syntaxFaults(
        file,
        errors.map(({ error, offset }) => ({ line: line(offset), words: wordsOf(error) })),
      ),
    )
  return {
    value: getNodeValue(tree),
    lineOf(path) {
      const node = findNodeAtLocation(tree, [...path])
      return node && line((node.parent?.type === 'property' ? node.parent : node).offset)
    },
  }
}
