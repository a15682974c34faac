import type { Word } from '../simple-command.ts'
import type { ReadingProgram } from './program-table.ts'
import { only } from '../simple-command.ts'
import { not } from './program-table.ts'

export const jqFlags = {
  letters: 'rcSesnajMC',
  whole: [
    ...['--raw-output', '--compact-output', '--sort-keys', '--exit-status', '--slurp', '--null-input', '--raw-input'],
    ...['--join-output', '--ascii-output', '--monochrome-output', '--color-output', '--tab', '-R', '--stream'],
  ],
}

/** Words of jq's language that see nothing but their input. `env`, `input_filename`, `import` and the like are missing. */
const words = new Set(
  'and or not if then elif else end as def reduce foreach try catch null true false empty error add any all range floor sqrt length utf8bytelength keys keys_unsorted values nulls booleans numbers strings arrays objects iterables scalars has in map map_values path paths leaf_paths del to_entries from_entries with_entries select recurse tostring tonumber type infinite nan isinfinite isnan isnormal sort sort_by group_by min max min_by max_by unique unique_by reverse contains inside startswith endswith combinations ltrimstr rtrimstr trim ltrim rtrim explode implode split join ascii_downcase ascii_upcase while repeat until first last nth limit indices index rindex flatten test match capture scan splits sub gsub ascii tojson fromjson todate fromdate now date strftime strptime mktime gmtime localtime transpose getpath setpath delpaths pick tostream fromstream walk inputs input text json html uri csv tsv sh base64 base64d abs toarray have_literal_numbers'.split(
    ' ',
  ),
)

/** Words that show more than the input; they are not even taken for the key of an object. */
const telling = /^(?:env|import|include|modulemeta|get_search_list|debug|stderr|input_.*|halt.*|getpath.*|ENV)$/

/** Whether a filter sees nothing but its input. Text with code inside it is not understood. */
function isPlainFilter(text: string): boolean {
  const withoutText = text.replace(/"(?:[^"\\]|\\[^(u])*"/g, '""')
  if (/["\\#]/.test(withoutText.replaceAll('""', ''))) return false
  const code = withoutText
    .replace(/\.[A-Za-z_]\w*/g, '.')
    .replace(/([{,]\s*)([A-Za-z_]\w*)(?=\s*:)/g, (all, sign: string, key: string) => (telling.test(key) ? all : sign))
  for (const [name] of code.matchAll(/\$?[A-Za-z_]\w*/g)) {
    if (name.startsWith('$') ? !/^\$[a-z][a-z0-9]*$/.test(name) : !words.has(name)) return false
  }
  return true
}

export const jq: ReadingProgram = (args) => {
  const operands: Word[] = []
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!
    const text = only(word)
    if (text === undefined) {
      if (
        !word.values ||
        operands.length === 0 ||
        word.values.some((value) => value.startsWith('-') || /^[*?[]/.test(value))
      )
        return not(`${word.text} may become other words`)
      operands.push(word)
    } else if (!text.startsWith('-') || text === '-') operands.push(word)
    else if (text === '--arg' || text === '--argjson') {
      if (!/^[a-z]\w*$/.test(only(args[i + 1]) ?? '') || only(args[i + 2]) === undefined)
        return not(`the value of ${text} is not known`)
      i += 2
    } else if (text === '--indent') {
      if (!/^\d$/.test(only(args[++i]) ?? '')) return not('the value of --indent is not known')
    } else if (!jqFlags.whole.includes(text) && ![...text.slice(1)].every((letter) => jqFlags.letters.includes(letter)))
      return not(`its flag ${text} is not understood`)
  }
  const filter = only(operands[0])
  if (filter === undefined || !isPlainFilter(filter)) return not('its filter may see more than its input')
  return { files: operands.slice(1), trees: [] }
}
