import { parse, TomlError as Fault } from 'smol-toml'

/** A text that is not TOML, with the number of the line. */
export class TomlError extends Error {
  override name = 'TomlError'
  line: number

  constructor(line: number) {
    super(`it is not TOML (line ${line})`)
    this.line = line
  }
}

/** More deeply nested values are refused: no settings file has them, and a hostile one could crash the program with them. */
const maxDepth = 64

/** Parses a TOML document. Dates are objects whose JSON is their text. Throws a TomlError that names the line. */
export function parseToml(text: string): Record<string, unknown> {
  try {
    // A number that is too large for JavaScript is no reason to refuse the rest of a file.
    return parse(text.replace(/^\uFEFF/, ''), { maxDepth, integersAsBigInt: 'asNeeded' })
  } catch (error) {
    throw error instanceof Fault ? new TomlError(error.line) : error
  }
}
