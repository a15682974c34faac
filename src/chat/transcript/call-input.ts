import { safeText, oneLine } from '../style/safe-text.ts'

/** The most informative fields of a call, by the names that agents use. */
const tellingFields = [
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

/** The fields that hold the path of a file: an agent names a file from the root of the disk, a person from the project. */
const pathFields = ['file_path', 'filePath', 'path']

/** The input of a call in one line, with its paths as `shorten` writes them. */
export function inputSummary(input: unknown, shorten = (path: string) => path): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : oneLine(String(input))
  const text = tellingText(input, 3, shorten) ?? JSON.stringify(input)
  return text === '{}' || text === '[]' ? '' : oneLine(text)
}

/** The paths in a patch with a section for each file, in the format of any agent. Other texts have no paths. */
export function patchPaths(text: unknown): string[] {
  if (typeof text !== 'string' || !text.trimStart().startsWith('*** Begin Patch')) return []
  return [...text.matchAll(/^\*\*\* (?:Add|Update|Delete) File: *(.+)$/gm)].map(([, path]) => path!.trim())
}

/** The most informative text, even deep inside, such as a question in a list of questions. */
function tellingText(value: unknown, depth: number, shorten: (path: string) => string): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : patchPaths(value).map(shorten).join(', ') || value
  if (typeof value !== 'object' || value === null || depth === 0) return undefined
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(' ') || undefined
  const known = tellingFields.map((key) => {
    const field = (value as Record<string, unknown>)[key]
    return typeof field === 'string' && pathFields.includes(key) ? shorten(field) : field
  })
  for (const each of [...known, ...Object.values(value)]) {
    const words = tellingText(each, depth - 1, shorten)
    if (words !== undefined) return words
  }
  return undefined
}

/** The whole input of a call, a line or a text for each field. */
export function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : safeText(String(input))
  return Object.entries(input)
    .map(
      ([key, value]) =>
        `${oneLine(key)}: ${typeof value === 'string' ? safeText(value) : oneLine(JSON.stringify(value) ?? '', 4000)}`,
    )
    .join('\n')
}
