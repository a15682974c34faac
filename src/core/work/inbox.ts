import type { HubAgent, Task } from './task.ts'

export type InboxKind = 'asks' | 'blocked' | 'review' | 'failed' | 'mention'

/** Something at the hub that waits for a person. Its id changes when it waits anew, so that old marks do not hide it. */
export type InboxItem = {
  id: string
  kind: InboxKind
  at: number
  title: string
  text: string
  task?: string
  agent?: string
  /** The only person that the item is for, where it is for one. */
  person?: string
}

/**
 * The mark of a person on an item: they looked at it, put it away, or put it off until a time. A mark without a person holds
 * for everybody: who takes care of the item.
 */
export type InboxMark = {
  item: string
  person?: string
  read?: boolean
  done?: boolean
  until?: number
  owner?: string
}

/** Names the place of a mark: one for each item and person, and one for everybody. */
export const markKey = ({ item, person = '' }: Pick<InboxMark, 'item' | 'person'>) => `${item}\n${person}`

/** An item with what one person has done with it, and who takes care of it. */
export type InboxRow = InboxItem & { read: boolean; needsMe: boolean; owner?: string; until?: number }

/** Everything that waits for a person, the oldest first. */
export function inboxItems(tasks: Iterable<Task>, agents: Iterable<HubAgent>): InboxItem[] {
  const items = [...[...agents].flatMap(askItem), ...[...tasks].flatMap(taskItems)]
  return items.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
}

/**
 * The items of one person. What the person has put away is left out; what is put off, belongs to somebody else or is for
 * somebody else does not need the person now.
 */
export function inboxRows(
  person: string,
  items: readonly InboxItem[],
  marks: ReadonlyMap<string, InboxMark>,
  now: number,
): InboxRow[] {
  return items.flatMap((item): InboxRow[] => {
    const own = marks.get(markKey({ item: item.id, person }))
    const owner = marks.get(markKey({ item: item.id }))?.owner
    if (own?.done) return []
    const until = own?.until !== undefined && own.until > now ? own.until : undefined
    const isOthers = (owner ?? item.person ?? person) !== person
    const row: InboxRow = { ...item, read: own?.read === true, needsMe: until === undefined && !isOthers }
    return [{ ...row, ...(owner === undefined ? {} : { owner }), ...(until === undefined ? {} : { until }) }]
  })
}

function askItem({ id, name = id, asks }: HubAgent): InboxItem[] {
  if (!asks) return []
  const task = asks.task === undefined ? {} : { task: asks.task }
  return [
    {
      id: `asks ${id} ${asks.id}`,
      kind: 'asks',
      at: asks.at,
      title: `${name} asks`,
      text: asks.text,
      agent: id,
      ...task,
    },
  ]
}

function taskItems(task: Task): InboxItem[] {
  return [...stateItem(task), ...mentionItems(task)]
}

/** A task that is blocked, in review or failed. Each time it comes to such a state is an item of its own. */
function stateItem(task: Task): InboxItem[] {
  const { id, moved, prompt, state } = task
  const [title = ''] = prompt.split('\n', 1)
  const item = { at: moved, title, task: id }
  if (state === 'BLOCKED') return [{ ...item, id: `blocked ${id} ${moved}`, kind: 'blocked', text: task.question }]
  if (state === 'IN_REVIEW')
    return [{ ...item, id: `review ${id} ${moved}`, kind: 'review', text: task.result.message }]
  if (state === 'FAILED') return [{ ...item, id: `failed ${id} ${moved}`, kind: 'failed', text: task.why }]
  return []
}

/** A name that follows an at sign at the beginning of a word. */
const mention = /(?<![\w@])@([A-Za-z0-9][\w.-]{0,63})/g

function mentionItems({ id, prompt, notes }: Task): InboxItem[] {
  const [title = ''] = prompt.split('\n', 1)
  return notes
    .filter(({ kind }) => kind === 'comment')
    .flatMap(({ at, by, text }) =>
      [...new Set([...text.matchAll(mention)].map(([, name]) => name!.replace(/[.-]+$/, '')))]
        .filter((person) => person !== by)
        .map((person): InboxItem => ({
          id: `mention ${id} ${at} ${person}`,
          kind: 'mention',
          at,
          title,
          text,
          task: id,
          person,
        })),
    )
}
