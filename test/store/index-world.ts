import type { TestContext } from 'node:test'
import type { Fact } from '../../src/core/talk/entry.ts'
import { fileStore } from '../../src/store/files/file-store.ts'
import { openIndex } from '../../src/store/index/conversation-index.ts'
import { tempFolder } from './temp.ts'

export const noon = Date.parse('2026-11-15T12:00:00Z')

/** A home with a way to talk in it: ids and times count up, so that whole values can be written down. */
export function world(t: TestContext) {
  const home = tempFolder(t)
  const store = fileStore(home)
  const index = openIndex(home)
  t.after(() => index.close())
  let count = 0
  const entry = (session: string, turn: string, by: string, fact: Fact) => ({
    id: `e${++count}`,
    at: noon + count,
    by,
    session,
    turn,
    ...fact,
  })
  const say = async (project: string, session: string, turn: string, by: string, fact: Fact, at?: number) => {
    const said = { ...entry(session, turn, by, fact), ...(at === undefined ? {} : { at }) }
    await store.log(`projects/${project}/history`).append(said)
    return said
  }
  const turn = async (project: string, session: string, id: string, prompt: string, reply: string) => [
    await say(project, session, id, 'user', { type: 'prompt', text: prompt }),
    await say(project, session, id, 'claude', { type: 'reply', text: reply }),
    await say(project, session, id, 'claude', { type: 'end', outcome: { ok: true, text: reply } }),
  ]
  return { home, store, index, say, turn }
}
