import { Endings, plainEndings } from './endings.ts'
import { nearLines } from './near.ts'

export type Edit = { old_string: string; new_string: string }

/** A text with an edit made, or the words that say why it could not be. */
export function edited(text: string, { old_string, new_string }: Edit): string {
  const [old, fresh] = [plainEndings(old_string), plainEndings(new_string)]
  if (old === '') throw new Error('old_string is empty: send the text that stands there now.')
  if (old === fresh) throw new Error('old_string and new_string are the same: nothing would change.')
  const endings = new Endings(text)
  const { plain } = endings
  const at = plain.indexOf(old)
  if (at < 0) throw new Error(`old_string is not in the file. ${nearLines(plain, old)}`)
  if (plain.indexOf(old, at + 1) < 0) return endings.replaced(at, old.length, fresh)
  const places = linesOf(plain, old)
  const many = places.length > mostPlaces ? `more than ${mostPlaces}` : `${places.length}`
  const where = places.slice(0, mostPlaces).join(', ')
  throw new Error(`old_string is in ${many} places, on lines ${where}. Add lines around the one that you mean.`)
}

const mostPlaces = 20

/** The lines on which a text stands, as far as they are told. */
function linesOf(text: string, wanted: string): number[] {
  const found: number[] = []
  let line = 1
  let from = 0
  for (let at = text.indexOf(wanted); at >= 0 && found.length <= mostPlaces; at = text.indexOf(wanted, at + 1)) {
    for (let end = text.indexOf('\n', from); end >= 0 && end < at; end = text.indexOf('\n', from)) {
      line++
      from = end + 1
    }
    found.push(line)
  }
  return found
}
