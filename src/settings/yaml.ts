import type { Source } from './fault.ts'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { SettingsError, syntaxFaults } from './fault.ts'

export function parseYaml(file: string, text: string): Source {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const errors = document.errors.map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    words: `is not YAML: ${message.split('\n')[0]!.replace(/ at line .*/, '')}`,
  }))
  if (errors.length > 0) throw new SettingsError(syntaxFaults(file, errors))
  return {
    value: document.toJS() ?? {},
    lineOf(path) {
      const node = document.getIn(path, true)
      return isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined
    },
  }
}
