import type { Fault, Path } from '../core/work/shape.ts'
import { nearest } from '../base/nearest.ts'
import { UsageError } from '../core/io.ts'

/** A parsed settings file that knows the line of each key. */
export type Source = { value: unknown; lineOf(path: Path): number | undefined }

/** A settings file that cannot be used; the message names file, line and key. */
export class SettingsError extends UsageError {
  override name = 'SettingsError'

  constructor(file: string, line: number | undefined, key: string, words: string) {
    const place = line === undefined ? file : `${file}:${line}`
    super(`${place}: ${key ? `${key}: ` : ''}${words}${/[.?]$/.test(words) ? '' : '.'}`)
  }
}

/** A fault in the words of somebody who edits the file. */
export function faultWords(fault: Fault): string {
  if (fault.is === 'missing') return `missing; ${fault.wants} is needed`
  if (fault.is === 'unknown') return unknownKey(String(fault.path.at(-1)), fault.known)
  return `found ${fault.found}${fault.near === undefined ? `, allowed: ${fault.wants}` : `; did you mean "${fault.near}"?`}`
}

function unknownKey(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  if (near !== undefined) return `unknown key; did you mean "${near}"?`
  return `unknown key; allowed: ${known.filter((other) => !other.startsWith('$')).join(', ')}`
}
