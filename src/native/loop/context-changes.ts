import type { Fact, Guide } from '../../core/talk/entry.ts'

/** An item of context that the model has got; `hash` is the hash of its text, or empty after the item was removed. */
export type ToldItem = { about: string; hash: string }

/** An item with its text. A change is appended to the messages, so that the beginning of the request stays the same. */
export type ContextItem = ToldItem & { text: string }

/**
 * The items that changed since the model last got them, and the removed ones. `known` are the items as this process last saw them: if a
 * file only grew at its end, only the new lines are sent.
 */
export function contextChanges(
  told: readonly ToldItem[],
  now: readonly ContextItem[],
  known: ReadonlyMap<string, ContextItem> = new Map(),
): ContextItem[] {
  const last = new Map(told.map(({ about, hash }) => [about, hash]))
  const grown = (item: ContextItem): ContextItem => {
    const before = known.get(item.about)
    return before !== undefined && before.hash === last.get(item.about) ? withoutKnown(item, before.text) : item
  }
  const there = new Set(now.map(({ about }) => about))
  const gone = [...last].filter(([about, hash]) => hash !== '' && !there.has(about))
  return [
    ...now.filter(({ about, hash }) => last.get(about) !== hash).map(grown),
    ...gone.map(([about]) => ({ about, hash: '', text: `No longer valid: ${about}` })),
  ]
}

const closing = '\n</instructions>'

/** The item with only the lines that were appended to its earlier text; the whole item if it changed in another way. */
function withoutKnown(item: ContextItem, before: string): ContextItem {
  const head = before.endsWith(closing) ? before.slice(0, -closing.length) : undefined
  if (head === undefined || !item.text.startsWith(`${head}\n`)) return item
  const added = item.text.slice(head.length + 1)
  return { ...item, text: `These lines were added to ${item.about}. Follow them too:\n<instructions>\n${added}` }
}

const prefix = 'changed:'

/** A change as a guide; its mark contains the hash, so that a later process can continue from the log. */
export function changeGuide({ about, hash, text }: ContextItem): Guide {
  return { type: 'guide', name: `${prefix}${about}`, text, mark: hash }
}

/** The items that the guides of a conversation gave one agent, in order. */
export function toldItems(said: readonly (Fact & { by: string })[], agent: string): ToldItem[] {
  return said.flatMap((fact) => {
    if (fact.type !== 'guide' || fact.by !== agent || fact.mark === undefined) return []
    const about = changedName(fact.name)
    return about === undefined ? [] : [{ about, hash: fact.mark }]
  })
}

/** The item that a guide of this name describes, if it describes a change. */
export function changedName(name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}
