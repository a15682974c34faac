import type { Source } from './fault.ts'
import { parseLocated } from '../base/text/yaml-parser.ts'
import { SettingsError, syntaxFaults } from './fault.ts'

export function parseYaml(file: string, text: string): Source {
  const { value, errors, placeOf } = parseLocated(text)
  if (errors.length > 0) {
    const faults = errors.map(({ line, words }) => ({ line, words: `is not YAML: ${words}` }))
    throw new SettingsError(syntaxFaults(file, faults))
  }
  return { value: value ?? {}, lineOf: (path) => placeOf(path)?.line }
}
