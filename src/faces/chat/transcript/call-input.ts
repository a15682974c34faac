import { safeText, oneLine } from './screen-text.ts'

/** What tells most of a call, in the words that agents use for it. */
const telling = [
  'command',
  'cmd',
  'code',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'prompt',
  'question',
  'description',
]

/** The input of a call in a few words. */
export function inputSummary(input: unknown): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : oneLine(String(input))
  const text = tellingOf(input, 3) ?? JSON.stringify(input)
  return text === '{}' || text === '[]' ? '' : oneLine(text)
}

/** The words that tell most, however deep they lie: a question in a list of questions. */
function tellingOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(' ') || undefined
  const known = telling.map((key) => (value as Record<string, unknown>)[key])
  for (const each of [...known, ...Object.values(value)]) {
    const words = tellingOf(each, depth - 1)
    if (words !== undefined) return words
  }
  return undefined
}

/** The input of a call as a person would write it down: a line or a text for each thing it says. */
export function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : safeText(String(input))
  return Object.entries(input)
    .map(
      ([key, value]) =>
        `${oneLine(key)}: ${typeof value === 'string' ? safeText(value) : oneLine(JSON.stringify(value) ?? '', 4000)}`,
    )
    .join('\n')
}
