import type { Conversations, KeptMessage, UsedTokens } from '../../core/talk/conversations.ts'
import type { Index, Session, UsageRow } from '../../store/index/conversation-index.ts'
import { defined } from '../../base/defined.ts'

type Parts = {
  /** Opens the index for one request; the caller closes it. */
  open(): Index
  /** Hides secrets: the words leave this machine. */
  mask(text: string): string
}

/** How many places a search names. */
const mostFound = 50

/** The conversations in the index of this home. Each request brings the index up to date first. */
export function keptConversations({ open, mask }: Parts): Conversations {
  const using = async <T>(work: (index: Index) => Promise<T>): Promise<T> => {
    const index = open()
    try {
      await index.catchUp()
      return await work(index)
    } finally {
      await index.close()
    }
  }
  return {
    list: () =>
      using(async (index) =>
        (await index.sessions()).map((session) => {
          const { id, project, path = project, started, last, turns } = session
          return { id, project: path, title: mask(titleOf(session)), started, last, turns }
        }),
      ),
    messages: (session, after, most) =>
      using(async (index) => {
        if (!(await index.sessions()).some(({ id }) => id === session)) return undefined
        const messages: KeptMessage[] = []
        // A page asks again and again, and a session may be long: only the wanted messages are read.
        for await (const { role, by, text, at } of index.messages(session, after)) {
          messages.push({ role, by, text: mask(text), at })
          if (messages.length === most) break
        }
        return { messages, all: await index.messageCount(session) }
      }),
    search: (text) =>
      using(async (index) => {
        const titles = new Map((await index.sessions()).map((session) => [session.id, titleOf(session)]))
        const hits = await index.search(text, { limit: mostFound })
        return hits.map(({ session, by, at, snippet }) => ({
          session,
          title: mask(titles.get(session) ?? session),
          by,
          at,
          snippet: mask(snippet),
        }))
      }),
    usage: (by) => using(async (index) => summed(await index.usage({ by }))),
  }
}

const titleOf = ({ id, name, first }: Session) => name ?? first ?? id

/** Adds the rows of all sources of a key: reported and estimated tokens are both used. */
function summed(rows: readonly UsageRow[]): UsedTokens[] {
  const all = new Map<string, UsedTokens>()
  for (const { key, input, output, cost } of rows) {
    const was = all.get(key) ?? { key, input: 0, output: 0 }
    const known = was.cost === undefined && cost === undefined ? undefined : (was.cost ?? 0) + (cost ?? 0)
    all.set(key, defined({ key, input: was.input + input, output: was.output + output, cost: known }))
  }
  return [...all.values()]
}
