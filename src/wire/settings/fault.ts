import { UsageError } from '../io.ts'

type Path = readonly PropertyKey[]

/** A parsed file that still knows on which line each key stands. */
export type Source = { value: unknown; lineOf(path: Path): number | undefined }

/** What is wrong in a settings file, in the words of the person who wrote it. */
export type Fault = { path: Path; words: string }

/** The shape of the validator's issues that we read. */
export type Issue = {
  code?: string
  path: Path
  message: string
  expected?: string
  values?: readonly unknown[]
  keys?: readonly string[]
  format?: string
  pattern?: string
  minimum?: number | bigint
  errors?: readonly (readonly Issue[])[]
}

export function faultOf(issue: Issue, found: unknown, known: readonly string[]): Fault {
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys![0]!
    const near = nearest(key, known)
    return {
      path: [...issue.path, key],
      words: near ? `unknown key; did you mean "${near}"?` : `unknown key; allowed: ${known.join(', ')}`,
    }
  }
  if (found === undefined) return { path: issue.path, words: `missing; ${allowed(issue)} is needed` }
  return { path: issue.path, words: `found ${show(found)}, allowed: ${allowed(issue)}` }
}

export class SettingsError extends UsageError {
  override name = 'SettingsError'

  constructor(file: string, line: number | undefined, key: string, words: string) {
    const place = line === undefined ? file : `${file}:${line}`
    super(`${place}: ${key ? `${key}: ` : ''}${words}.`)
  }
}

export function keyText(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part)),
    '',
  )
}

function allowed(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords[issue.expected ?? ''] ?? String(issue.expected)
    case 'invalid_value':
      return (issue.values ?? []).map((value) => JSON.stringify(value)).join(', ')
    case 'too_small':
      return issue.expected === 'string' || typeof issue.minimum !== 'number'
        ? 'something longer'
        : `a number above ${issue.minimum}`
    case 'invalid_format':
      return 'letters, digits, ".", "_" and "-"'
    case 'invalid_union':
      return [...new Set((issue.errors ?? []).flat().map(allowed))].join(' or ')
    default:
      return issue.message
  }
}

const typeWords: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** The known key that one or two slips away from the one that was typed. */
function nearest(key: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((other) => ({ other, far: distance(key.toLowerCase(), other.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)
  return ranked[0] && ranked[0].far <= Math.max(2, key.length / 4) ? ranked[0].other : undefined
}

export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}
