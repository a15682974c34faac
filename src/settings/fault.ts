import type { Path } from './shape.ts'
import { UsageError } from '../core/io.ts'

/** A parsed file that still knows on which line each key stands. */
export type Source = { value: unknown; lineOf(path: Path): number | undefined }

export class SettingsError extends UsageError {
  override name = 'SettingsError'

  constructor(file: string, line: number | undefined, key: string, words: string) {
    const place = line === undefined ? file : `${file}:${line}`
    super(`${place}: ${key ? `${key}: ` : ''}${words}${/[.?]$/.test(words) ? '' : '.'}`)
  }
}

export function keyText(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  )
}
