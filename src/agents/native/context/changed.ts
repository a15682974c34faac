import type { InstructionFile, Instructions } from './instructions.ts'
import { fileText } from './instructions.ts'

/** What the model was told of a file: `hash` is that of the text, and empty once the file was gone. */
export type Told = { path: string; hash: string }

/** What is said of a file that changed: appended to the messages, so that the beginning of the request stays as it was. */
export type Change = Told & { text: string }

export const toldOf = (files: readonly InstructionFile[]): Told[] => files.map(({ path, hash }) => ({ path, hash }))

/** What to say now, after what was told so far, in that order: with the frame, and of changes since. */
export function changedSince(told: readonly Told[], now: Instructions): Change[] {
  const last = new Map(told.map(({ path, hash }) => [path, hash]))
  const there = new Set(now.files.map(({ path }) => path))
  const changed = now.files
    .filter(({ path, hash }) => last.get(path) !== hash)
    .map((file) => ({
      path: file.path,
      hash: file.hash,
      text: `${last.get(file.path) ? 'These instructions changed; this is what they are now:' : 'These instructions are new:'}\n${fileText(file)}`,
    }))
  const gone = [...last]
    .filter(([path, hash]) => hash !== '' && !there.has(path))
    .map(([path]) => ({ path, hash: '', text: `The instructions of ${path} are no longer in force.` }))
  return [...changed, ...gone]
}
