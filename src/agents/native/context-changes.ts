import type { Fact, Guide } from '../../core/talk/entry.ts'

/** What the model was told of a file or a skill: `hash` is that of its words, and empty once it was gone. */
export type ToldItem = { about: string; hash: string }

/** The same with its words: appended to the messages, so that the beginning of the request stays as it was. */
export type ContextItem = ToldItem & { text: string }

/** What to say now, after what was told so far, in that order: with the frame, and of changes since. */
export function contextChanges(told: readonly ToldItem[], now: readonly ContextItem[]): ContextItem[] {
  const last = new Map(told.map(({ about, hash }) => [about, hash]))
  const there = new Set(now.map(({ about }) => about))
  const gone = [...last].filter(([about, hash]) => hash !== '' && !there.has(about))
  return [
    ...now.filter(({ about, hash }) => last.get(about) !== hash),
    ...gone.map(([about]) => ({ about, hash: '', text: `No longer in force: ${about}` })),
  ]
}

const prefix = 'changed:'

/** A change as it is kept: its mark says what was told, for whoever goes on from the log. */
export function changeGuide({ about, hash, text }: ContextItem): Guide {
  return { type: 'guide', name: `${prefix}${about}`, text, mark: hash }
}

/** What the guides of a conversation told one agent, in their order. */
export function toldItems(said: readonly (Fact & { by: string })[], agent: string): ToldItem[] {
  return said.flatMap((fact) => {
    if (fact.type !== 'guide' || fact.by !== agent || fact.mark === undefined) return []
    const about = changedName(fact.name)
    return about === undefined ? [] : [{ about, hash: fact.mark }]
  })
}

/** What a guide of that name tells of, where it tells of a change. */
export function changedName(name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}
