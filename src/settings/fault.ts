import type { Path } from './shape.ts'
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

/** Writes a path as people do: `agents[2].name`. */
export function keyText(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  )
}
