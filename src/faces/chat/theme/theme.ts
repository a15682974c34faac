/** Wraps text in a colour; what is painted by none comes out as it went in. */
export type Paint = (text: string) => string

/** What a colour is for, never which one it is: `colours.ts` is the law that says which. */
export type Theme = {
  name: 'dark' | 'light' | 'plain'
  /** The border, its title and the large letters. */
  accent: Paint
  strong: Paint
  quiet: Paint
  /** What the person said. */
  user: Paint
  good: Paint
  warn: Paint
  bad: Paint
  added: Paint
  removed: Paint
  code: Paint
  link: Paint
  /** The row that Enter would take. */
  chosen: Paint
  /** A steady colour for each name. */
  speaker(name: string): Paint
}
