import type { ReadingProgram } from './program-table.ts'
import { only } from '../simple-command.ts'
import { not, take } from './program-table.ts'

/**
 * The text of a regular expression before a delimiter. A bracket may not hold the delimiter, and may not begin with a ]: systems
 * differ about where the expression ends then.
 */
const expression = (sign: string) =>
  String.raw`(?:[^\\\n[${sign}]|\\[^\w\n]|\\[1-9nstwWbBS]|\[(?!\^?\])\^?(?:\[:[a-z]+:\]|[^\]\\\n[${sign}])+\])*`

const replacement = (sign: string) => String.raw`(?:[^\\\n${sign}]|\\[^\w\n]|\\[0-9n])*`

const address = String.raw`(?:\d+(?:~\d+)?|\$|/${expression('/')}/I?)`

const substitutions = ['/', '|', '#', ',', '@']
  .map((sign) => `s[${sign}]${expression(sign)}[${sign}]${replacement(sign)}[${sign}][gpIi0-9]*`)
  .join('|')

/** Scripts that print, delete and substitute lines of what was read; none can write a file or run a command. */
const script = new RegExp(
  String.raw`^(?:[\s;]*(?:${address}(?:,(?:${address}|[+~]\d+))?)?[ ]*!?[ ]*(?:[pdq=]|${substitutions})[ ]*(?=[;\n]|$))*[\s;]*$`,
)

export const isPrintingScript = (text: string) => text.length < 2000 && script.test(text)

/** The flags of sed; its operands are the script and files. */
export const sedTable = {
  names: ['sed', 'gsed'],
  letters: 'nErsuz',
  rows: [
    '-i',
    '-i<SUFFIX>',
    '--in-place',
    '-e <TEXT>',
    '--expression=<TEXT>',
    '--quiet',
    '--silent',
    '--regexp-extended',
    '--separate',
    '--null-data',
  ],
} as const

export const sed: ReadingProgram = (args, around) => {
  const taken = take(sedTable, args, around)
  if ('not' in taken) return taken
  const given = taken.values.filter(({ flag }) => flag !== '-i').map(({ word }) => word)
  const scripts = given.length > 0 ? given : taken.operands.slice(0, 1)
  if (scripts.length === 0) return not('it has no script')
  for (const word of scripts) {
    const text = only(word)
    if (text === undefined || !isPrintingScript(text)) return not('its script may write files or run commands')
  }
  const files = taken.operands.slice(given.length > 0 ? 0 : 1)
  const inPlace = taken.given.has('-i') || taken.given.has('--in-place')
  return inPlace ? { files: taken.files, trees: [], writes: files } : { files: [...files, ...taken.files], trees: [] }
}
