import { safeText } from '../../../chat/style/safe-text.ts'

/** Splits a text into parts; parts that begin with a search word are marked. */
export function markedWords(text: string, search: string): { text: string; isMarked: boolean }[] {
  const words = search.split(/\s+/).filter((word) => word !== '')
  const shown = safeText(text)
  if (words.length === 0) return [{ text: shown, isMarked: false }]
  const wanted = new RegExp(
    `(${words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('|')})`,
    'giu',
  )
  return shown
    .split(wanted)
    .map((part, at) => ({ text: part, isMarked: at % 2 === 1 }))
    .filter((part) => part.text !== '')
}
