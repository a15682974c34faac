import type { Source } from './fault.ts'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { SettingsError } from './fault.ts'

export function parseYaml(file: string, text: string): Source {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [first] = document.errors
  if (first)
    throw new SettingsError(
      file,
      lines.linePos(first.pos[0]).line,
      '',
      `is not YAML: ${first.message.split('\n')[0]!.replace(/ at line .*/, '')}`,
    )
  return {
    value: document.toJS() ?? {},
    lineOf(path) {
      const node = document.getIn(path, true)
      return isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined
    },
  }
}
