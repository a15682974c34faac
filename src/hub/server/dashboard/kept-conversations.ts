import type { Conversations, UsedAmounts } from '../../../core/turns/conversations.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Entry } from '../../../core/talk/entry.ts'
import type { Store } from '../../../core/talk/store.ts'
import type { ActivityRow, Index, Session, UsageRow } from '../../../store/index/conversation-index.ts'
import { defined } from '../../../base/defined.ts'
import { knownProject, openedSession } from '../../../home/project.ts'
import { awayAgents } from '../../../turn/away-agents.ts'
import { KeptEntries } from './kept-entries.ts'

type KeptConversationParts = {
  /** Opens the index for one request; the caller closes it. */
  open(): Index
  store: Store
  clock: Pick<Clock, 'now'>
  /** Hides secrets, because the text leaves this machine. */
  mask(text: string): string
}

/** How many places a search returns. */
const mostFound = 50

/** The conversations of this home, read from the logs; the index only says where they are and what they contain. */
export function keptConversations({ open, store, clock, mask }: KeptConversationParts): Conversations {
  /** Brings the index up to date before the work. */
  const using = async <T>(work: (index: Index) => Promise<T>): Promise<T> => {
    const index = open()
    try {
      await index.catchUp()
      return await work(index)
    } finally {
      await index.close()
    }
  }
  const find = (id: string) => using(async (index) => (await index.sessions()).find((session) => session.id === id))
  const entriesOf = async ({ id, project, log }: Session) => {
    if (log !== undefined) return new KeptEntries(store.log<Entry>(`projects/${project}/imported/${log}`), { id }, mask)
    const doc = store.doc(`projects/${project}/project`, { path: '', lastUsed: 0, sessions: {} }, knownProject)
    // If a document is damaged, only the earlier turns of a fork are missing, and the rest of the conversation is readable.
    const known = await doc.read().catch(() => undefined)
    const place = (known && openedSession(known, id)) ?? { id }
    return new KeptEntries(store.log<Entry>(`projects/${project}/history`), place, mask)
  }
  return {
    list: () =>
      using(async (index) =>
        (await index.sessions()).map((session) => {
          const { id, project, path = project, started, last, turns } = session
          return { id, project: path, title: mask(titleOf(session)), started, last, turns }
        }),
      ),
    projects: () =>
      using(async (index) =>
        (await index.projects()).map(({ slug, path = slug, agents, bytes, last, words }) =>
          defined({
            id: slug,
            project: path,
            agents,
            bytes,
            last,
            words: words && { by: words.by, text: mask(words.text) },
          }),
        ),
      ),
    async page(id, wish) {
      const session = await find(id)
      if (!session) return undefined
      const page = await (await entriesOf(session)).page(wish)
      return { title: mask(titleOf(session)), project: session.path ?? session.project, ...page }
    },
    async *follow(id, after, signal) {
      const session = await find(id)
      if (session) yield* (await entriesOf(session)).follow(after, signal)
    },
    search: (text) =>
      using(async (index) => {
        const titles = new Map((await index.sessions()).map((session) => [session.id, titleOf(session)]))
        const hits = await index.search(text, { limit: mostFound })
        return hits.map(({ session, id, by, at, snippet }) => ({
          session,
          entry: id,
          title: mask(titles.get(session) ?? session),
          by,
          at,
          snippet: mask(snippet),
        }))
      }),
    usage: (wish) =>
      using(async (index) => joinAmounts(await index.usage(wish), await index.activity({ ...wish, now: clock.now() }))),
    away: () => awayAgents(store, clock.now(), mask),
  }
}

const titleOf = ({ id, name, first }: Session) => name ?? first ?? id

/** Sums the rows of all sources of a key, because tokens are partly reported and partly estimated, and adds the activity of that key. */
function joinAmounts(used: readonly UsageRow[], done: readonly ActivityRow[]): UsedAmounts[] {
  const all = new Map<string, UsedAmounts>()
  const rowOf = (key: string): UsedAmounts =>
    all.get(key) ?? { key, input: 0, output: 0, turns: 0, failures: 0, parkedMs: 0 }
  for (const { key, input, output, cost } of used) {
    const was = rowOf(key)
    const known = was.cost === undefined && cost === undefined ? undefined : (was.cost ?? 0) + (cost ?? 0)
    all.set(key, defined({ ...was, input: was.input + input, output: was.output + output, cost: known }))
  }
  for (const row of done) all.set(row.key, { ...rowOf(row.key), ...row })
  return [...all.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}
