import type { FoundWords, KeptConversation } from '../../../core/talk/conversations.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { refused } from './act.ts'
import { address, setFilter } from './address.ts'
import { call } from './hub-connection.ts'
import { rowClass } from './list-keys.ts'
import { Refused } from './refused.tsx'
import { SessionView, sessionLink } from './session-view.tsx'
import { ago, count, firstLine, moment } from './words.ts'

const conversations = signal<readonly KeptConversation[] | undefined>(undefined)
const found = signal<readonly FoundWords[] | undefined>(undefined)

/** The projects and their conversations; with words to search for, the places where they stand. */
export function ConversationsView() {
  const { id, filters } = address.value
  const search = filters.get('q') ?? ''
  useEffect(() => {
    void read(search)
  }, [search])
  if (id !== undefined) return <SessionView session={id} />
  return (
    <section aria-labelledby="conversations-title">
      <div class="head">
        <h1 id="conversations-title">Conversations</h1>
        <input
          type="search"
          aria-label="Search in all conversations"
          placeholder="Search ( / )"
          value={search}
          onInput={(event) => setFilter('q', event.currentTarget.value)}
        />
      </div>
      <Refused />
      {search === '' ? <ConversationList /> : <FoundList />}
    </section>
  )
}

async function read(search: string): Promise<void> {
  try {
    if (search === '') conversations.value = (await call('GET', '/api/sessions')) as KeptConversation[]
    else found.value = (await call('GET', `/api/search?q=${encodeURIComponent(search)}`)) as FoundWords[]
  } catch (error) {
    refused.value = error instanceof Error ? error.message : String(error)
  }
}

function ConversationList() {
  const all = conversations.value
  if (!all) return <p class="quiet">Reading …</p>
  if (all.length === 0)
    return (
      <p class="empty">
        No conversation yet. Type <code>termaite</code> in the folder of a project.
      </p>
    )
  return (
    <ul class="rows">
      {all.map(({ id, project, title, last, turns }) => (
        <li class={rowClass} key={id}>
          <a class="card" href={sessionLink(id)}>
            <strong>{firstLine(title)}</strong>
            <span class="quiet">
              {project} · {count(turns)} {turns === 1 ? 'turn' : 'turns'} ·{' '}
              <time dateTime={new Date(last).toISOString()} title={moment(last)}>
                {ago(last)}
              </time>
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function FoundList() {
  const all = found.value
  if (!all) return <p class="quiet">Searching …</p>
  if (all.length === 0) return <p class="empty">These words stand in no conversation.</p>
  return (
    <ul class="rows">
      {all.map(({ session, title, by, at, snippet }) => (
        <li class={rowClass} key={`${session} ${at} ${snippet}`}>
          <a class="card" href={sessionLink(session)}>
            <strong>{snippet}</strong>
            <span class="quiet">
              {by} in {firstLine(title)} · {ago(at)}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}
