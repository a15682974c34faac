/**
 * Reads and edits entries in one kind of settings file. Every function takes and returns the file's text, and leaves all other bytes
 * unchanged.
 */
export type ConfigFormat = {
  /** Returns the value under these keys; undefined if they have no value. */
  find(text: string, path: readonly string[]): unknown
  /** Writes the value under these keys. */
  put(text: string, path: readonly string[], entry: unknown): string
  /** Removes the entry, and the object around it if that contains nothing else. */
  take(text: string, path: readonly string[]): string
}

/** A settings file that cannot be read or edited; the message follows the file's name in a sentence. */
export class UnusableConfig extends Error {
  override name = 'UnusableConfig'
}
