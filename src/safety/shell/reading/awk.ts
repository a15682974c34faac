import type { Word } from '../simple-command.ts'
import type { ReadingProgram } from './program-table.ts'
import { only } from '../simple-command.ts'
import { not, take } from './program-table.ts'

/** Words of awk that neither read nor write anything else. Any other word must be a variable in small letters. */
const words = new Set(
  'print printf if else next BEGIN END NR NF FNR FS OFS RS ORS length substr index tolower toupper int in delete'.split(
    ' ',
  ),
)

/** Words that are not variables, though they are written in small letters. */
const forbidden =
  /^(?:system|getline|close|fflush|func|function|while|for|do|exit|return|break|continue|nextfile|switch|case|default|sub|gsub|gensub|match|sprintf|split|patsplit|strftime|systime|mktime|srand|rand|and|or|xor|compl|lshift|rshift|strtonum|asort|asorti|isarray|typeof|bindtextdomain|dcgettext|dcngettext|sin|cos|atan2|exp|log|sqrt|extension|include|load|namespace)$/

/** In `[^]…]` the first ] is a letter of the bracket for some programs, so such a bracket is not understood. */
const regex = /^\/(?:[^/\\\n[\]]|\\[^\n]|\[(?!\^?\])\^?[^/\\\n[\]]+\])*\//
const string = /^"(?:[^"\\\n]|\\[\\"/nt])*"/

/**
 * Whether a program of awk only prints parts of what it reads. A `>` or `|` in an action would write to a file or a
 * program, so `>` is only understood in a condition outside the braces, and a slash only where an expression begins.
 */
function isPrintingProgram(text: string): boolean {
  let left = text
  let braces = 0
  let before = ''
  while (left !== '') {
    const blank = /^[ \t\n]+/.exec(left)?.[0]
    if (blank !== undefined) {
      if (blank.includes('\n')) before = ';'
      left = left.slice(blank.length)
      continue
    }
    const token =
      regex.exec(left)?.[0] ??
      string.exec(left)?.[0] ??
      /^(?:[A-Za-z_]\w*|\d+(?:\.\d+)?|&&|\|\||[=!<>+-]=|!~|\+\+|--|[{}();,$+\-*%<>=!~?:[\]])/.exec(left)?.[0]
    if (token === undefined) return false
    if (token.startsWith('/') && !/^(?:|[;{}(,!~]|!~|&&|\|\|)$/.test(before)) return false
    // After a closing brace or parenthesis inside an action a slash divides.
    if (token.startsWith('/') && before === '}' && braces > 0) return false
    if (/^[A-Za-z_]/.test(token) && !words.has(token) && (!/^[a-z_][a-z0-9_]*$/.test(token) || forbidden.test(token)))
      return false
    // A name right before a parenthesis is a function.
    if (/^[a-z_]/.test(token) && !words.has(token) && left[token.length] === '(') return false
    if (token === '{') braces++
    if (token === '}') braces--
    if (braces < 0 || braces > 3) return false
    if (token === '>' && braces > 0) return false
    if (token === '>=' && braces > 0) return false
    before = token
    left = left.slice(token.length)
  }
  return braces === 0
}

export const awkTable = {
  names: ['awk', 'gawk', 'mawk', 'nawk'],
  rows: ['-F <TEXT>', '-F<TEXT>', '-v <TEXT>'],
  ends: true,
} as const

/** A variable that is set on the command line may not be one that awk itself looks at. */
const setting = /^[a-z_][a-z0-9_]*=[^\\]*$|^O?[FR]S=[^\\]*$/

export const awk: ReadingProgram = (args, around) => {
  const taken = take(awkTable, args, around)
  if ('not' in taken) return taken
  const own = only(taken.operands[0])
  if (own === undefined || !isPrintingProgram(own)) return not('its program may do more than print')
  for (const { flag, word } of taken.values)
    if (flag === '-v' && !setting.test(only(word) ?? '')) return not(`the value of ${flag} is not understood`)
  const files = taken.operands.slice(1)
  const names = (word: Word) => [...(word.values ?? ['=']), ...(word.glob ? around.matches(word) : [])]
  if (files.some((word) => names(word).some((value) => value.includes('='))))
    return not('a variable may be set between its files')
  return { files, trees: [] }
}
