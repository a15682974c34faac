import { optionValue } from '../../base/option-value.ts'
import { shellWord } from '../../base/text/shell-word.ts'

/** Matches a word as bash would split it, including its quotes: enough to see which program a command starts. */
const word = /\s*((?:[^\s'"\\]|\\.|'[^']*'|"(?:\\.|[^"\\])*")+)/y

/** The program that a command starts: without leading variables and `env`, quotes and folder. */
export function programOf(command: string): string | undefined {
  const program = baseOf(programWord(command) ?? '')
  return program === '' ? undefined : program
}

/** The program's name with its folder, if the command names one. */
export function programWord(command: string): string | undefined {
  const words = wordsOf(command)
  let at = 0
  const pastVariables = () => {
    while (/^\w+=/.test(words[at] ?? '')) at++
  }
  pastVariables()
  if (baseOf(words[at] ?? '') === 'env') {
    at++
    pastVariables()
  }
  return words[at]
}

/** Whether a command has a flag with this value, as `--flag value` or `--flag=value`. */
export function hasFlag(command: string, flags: readonly string[], value?: string): boolean {
  const words = wordsOf(command)
  return words.some((word, at) =>
    flags.some((flag) =>
      value === undefined ? word === flag : word === `${flag}=${value}` || (word === flag && words[at + 1] === value),
    ),
  )
}

function wordsOf(command: string): string[] {
  const words: string[] = []
  word.lastIndex = 0
  for (let match = word.exec(command); match; match = word.exec(command)) words.push(unquoted(match[1]!))
  return words
}

const unquoted = (text: string) => text.replaceAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, '$1$2$3')

const baseOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

/** Joins the parts of a command, skipping parts without a value. */
export function commandLine(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(' ')
}

/**
 * An option of a command, as `--flag value`, or `--flag=value` for a flag that ends in "="; undefined without a value. Throws if the CLI
 * could mistake the value for a flag: every value of a composed command passes this check.
 */
export function option(flag: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  return `${flag}${flag.endsWith('=') ? '' : ' '}${shellWord(optionValue(value, flag.replace(/=$/, '')))}`
}

/** Repeats an option once for each value. */
export const options = (flag: string) => (values: readonly string[]) =>
  commandLine(...values.map((value) => option(flag, value)))
