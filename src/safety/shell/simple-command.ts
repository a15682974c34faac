/** A word of a command: all texts that it can stand for, or undefined if only the shell knows. */
export type Word = {
  text: string
  values?: readonly string[]
  /** Whether the values are patterns for names of files. */
  glob?: boolean
  /** Set for a word whose text is not known, but which is certainly one word and begins with this text. */
  begins?: string
}

/** One simple command before it is judged. `cwds`: every folder in which it may run; undefined if that is not known. */
export type Simple = { text: string; words: readonly Word[]; cwds: readonly string[] | undefined }

/** A word without expansion. */
export const literal = (text: string): Word => ({ text, values: [text] })

/** The text of a word that can only stand for one text. */
export const only = (word: Word | undefined): string | undefined =>
  word?.values?.length === 1 && !word.glob ? word.values[0] : undefined

/** The text that a program receives for a word, without quotes and escapes; the word itself if that is not known. */
export const wordText = (word: Word): string => only(word) ?? word.text
