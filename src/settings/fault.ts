import type { Path } from '../core/data/shape.ts'
import { UsageError } from '../core/io.ts'

/** A parsed settings file that knows the line of each key. */
export type Source = { value: unknown; lineOf(path: Path): number | undefined }

/** One error in a settings file; `key` is the path of the setting, or '' for the whole file. */
type SettingsFault = { file: string; line?: number | undefined; key: string; words: string }

/** Settings that cannot be used. The message has a line for each fault, which names file, line and key. */
export class SettingsError extends UsageError {
  override name = 'SettingsError'
  readonly faults: readonly string[]

  constructor(faults: readonly SettingsFault[] | readonly string[]) {
    const lines = faults.map((fault) => (typeof fault === 'string' ? fault : faultLine(fault)))
    super(lines.length === 1 ? lines[0]! : [`${lines.length} errors in the settings:`, ...lines].join('\n'))
    this.faults = lines
  }
}

function faultLine({ file, line, key, words }: SettingsFault): string {
  const place = line === undefined ? file : `${file}:${line}`
  return `${place}: ${key ? `${key}: ` : ''}${words}${/[.?]$/.test(words) ? '' : '.'}`
}

/**
 * Reads several sources of settings and collects the errors in all of them, so that a person sees every error at once. `check` throws the
 * collected errors.
 */
export class FaultCollector {
  #faults: string[] = []

  /** Returns the result of `read`; undefined if it throws a UsageError, which is stored for `check`. */
  async read<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      this.#faults.push(...(error instanceof SettingsError ? error.faults : [error.message]))
      return undefined
    }
  }

  check(): void {
    if (this.#faults.length > 0) throw new SettingsError(this.#faults)
  }
}

/** A parser's errors, only the first of each line: later ones on the same line are mostly its consequences. */
export function syntaxFaults(file: string, errors: readonly { line: number; words: string }[]): SettingsFault[] {
  const lines = [...new Map(errors.toReversed().map((error) => [error.line, error])).values()].toReversed()
  return lines.map(({ line, words }) => ({ file, line, key: '', words }))
}
