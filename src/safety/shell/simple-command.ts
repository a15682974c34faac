/** A word of a command: all texts it can stand for, or none where only the shell will know. */
export type Word = {
  text: string
  values?: readonly string[]
  glob?: boolean
  /** All values at once, each a word. */ spread?: boolean
}

export type Redirect = { text: string; target: Word; how: 'read' | 'write' }

/** One simple command before it is judged. `cwds`: every folder it may run in; undefined where that is not known. */
export type Simple = {
  text: string
  words: readonly Word[]
  cwds: readonly string[] | undefined
  /** Whether what is piped into it are names of files in the project. */
  fed: boolean
}

/** A word that stands for itself. */
export const literal = (text: string): Word => ({ text, values: [text] })

/** The one text a word stands for. */
export const only = (word: Word | undefined): string | undefined =>
  word?.values?.length === 1 && !word.glob ? word.values[0] : undefined

/** What a program is told by a word, quotes and escapes taken away; the word itself where that is not known. */
export const said = (word: Word): string => only(word) ?? word.text

/** What a shell sees again as the same word. */
export const quoted = (text: string) => (/^[\w./:,@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
