/** What the model was told of a file or a skill: `hash` is that of its words, and empty once it was gone. */
export type Told = { about: string; hash: string }

/** The same with its words: appended to the messages, so that the beginning of the request stays as it was. */
export type Telling = Told & { text: string }

/** What to say now, after what was told so far, in that order: with the frame, and of changes since. */
export function changedSince(told: readonly Told[], now: readonly Telling[]): Telling[] {
  const last = new Map(told.map(({ about, hash }) => [about, hash]))
  const there = new Set(now.map(({ about }) => about))
  const gone = [...last].filter(([about, hash]) => hash !== '' && !there.has(about))
  return [
    ...now.filter(({ about, hash }) => last.get(about) !== hash),
    ...gone.map(([about]) => ({ about, hash: '', text: `No longer in force: ${about}` })),
  ]
}
