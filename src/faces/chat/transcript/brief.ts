import { harmless, oneLine } from './text.ts'

/** What tells most of a call, in the words that agents use for it. */
const telling = ['command', 'cmd', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'prompt', 'description']

/** The input of a call in a few words. */
export function brief(input: unknown): string {
  if (typeof input === 'string') return oneLine(input)
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : oneLine(String(input))
  for (const key of telling) {
    const value = (input as Record<string, unknown>)[key]
    if (typeof value === 'string' && value !== '') return oneLine(value)
    if (Array.isArray(value)) return oneLine(value.join(' '))
  }
  const text = JSON.stringify(input)
  return text === '{}' || text === '[]' ? '' : oneLine(text)
}

/** The input of a call as a person would write it down: a line or a text for each thing it says. */
export function inFull(input: unknown): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : harmless(String(input))
  return Object.entries(input)
    .map(
      ([key, value]) =>
        `${oneLine(key)}: ${typeof value === 'string' ? harmless(value) : oneLine(JSON.stringify(value) ?? '', 4000)}`,
    )
    .join('\n')
}
