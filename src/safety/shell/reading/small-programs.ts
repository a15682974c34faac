import type { Word } from '../simple-command.ts'
import type { ReadingProgram } from './program-table.ts'
import { only } from '../simple-command.ts'
import { not, take } from './program-table.ts'

/** `test` and `[`: tests of one file, one text, two texts or two numbers. `-v` and the like evaluate text, and are missing. */
export const testing =
  (bracket: boolean): ReadingProgram =>
  (args) => {
    let words = [...args]
    if (bracket && only(words.pop()) !== ']') return not('its ] is missing')
    while (only(words[0]) === '!') words = words.slice(1)
    const [first, second, third] = words
    const sign = only(first)
    if (words.length === 1 && isText(first)) return { files: [], trees: [] }
    if (words.length === 2 && sign !== undefined && /^-[efdsrwxLhpSbc]$/.test(sign) && second?.values)
      return second.glob ? not(`${second.text} may become other words`) : { files: [], trees: [], named: [second] }
    if (words.length === 2 && (sign === '-n' || sign === '-z') && isText(second)) return { files: [], trees: [] }
    const between = only(second) ?? ''
    if (words.length === 3 && isText(first) && isText(third) && /^(?:=|!=|==)$/.test(between))
      return { files: [], trees: [] }
    // Some shells evaluate what is not a plain number.
    if (words.length === 3 && isNumber(first) && isNumber(third) && /^-(?:eq|ne|lt|le|gt|ge)$/.test(between))
      return { files: [], trees: [] }
    return not('this test is not understood')
  }

const isText = (word: Word | undefined) =>
  word !== undefined && !word.glob && (word.values !== undefined || word.begins !== undefined)

const isNumber = (word: Word | undefined) => /^-?\d{1,9}$/.test(only(word) ?? '') || /^"?\$\?"?$/.test(word?.text ?? '')

/** `cd` into one folder. */
export const cd: ReadingProgram = (args) => {
  const words = only(args[0]) === '--' ? args.slice(1) : args
  const [folder] = words
  const text = only(folder)
  if (words.length !== 1 || !folder || text === undefined || text === '' || text.startsWith('-'))
    return not('termaite does not know which folder it enters')
  return { files: [], trees: [], named: [folder] }
}

/** `bash -c text` runs the text as a script. */
export const shell: ReadingProgram = (args) => {
  const script = only(args[1])
  if (only(args[0]) !== '-c' || script === undefined || args.length !== 2)
    return not('termaite cannot see what the shell runs')
  return { files: [], trees: [], script }
}

/** Programs that run another command, with their own flags. */
export const wrapperTables = {
  timeout: {
    names: ['timeout'],
    ends: true,
    rows: ['-s <NAME>', '-k <SECONDS>', '--signal=<NAME>', '--kill-after=<SECONDS>', '--foreground'],
  },
  nice: { names: ['nice'], ends: true, rows: ['-n <±N>', '-n<±N>', '-<N>', '--adjustment=<±N>'] },
  time: { names: ['time'], ends: true, rows: [] },
} as const

export const wrapper =
  (name: keyof typeof wrapperTables): ReadingProgram =>
  (args, around) => {
    const before = name === 'timeout' ? 1 : 0
    const taken = take(wrapperTables[name], args, around)
    if ('not' in taken) return taken
    if (before === 1 && !/^\d+(?:\.\d+)?[smhd]?$/.test(only(taken.operands[0]) ?? ''))
      return not('its time is not understood')
    const inner = taken.operands.slice(before)
    return inner.length === 0 ? not('it runs nothing') : { files: [], trees: [], inner }
  }
