/** How entries stand in one kind of settings file. All of it is text in, text out: every other byte stays as it is. */
export type Format = {
  /** What stands under these keys; undefined when nothing does. */
  find(text: string, path: readonly string[]): unknown
  put(text: string, path: readonly string[], entry: unknown): string
  /** Without the entry, and without what was only made to hold it. */
  take(text: string, path: readonly string[]): string
}

/** The file is not in a state that can be edited, in words that follow its name. */
export class Unfit extends Error {
  override name = 'Unfit'
}
