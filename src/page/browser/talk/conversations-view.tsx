import type { FoundWords, KeptConversation, KeptProject } from '../../../core/turns/conversations.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { sizeWords } from '../../../base/text/size-words.ts'
import { refused } from '../hub/act.ts'
import { address, sessionLink } from '../frame/page-address.ts'
import { call } from '../hub/page-connection.ts'
import { request } from '../hub/page-request.ts'
import { rowClass } from '../frame/list-keys.ts'
import { markedWords } from '../words/marked-words.ts'
import { PromptForm } from './prompt-form.tsx'
import { Refused } from '../frame/refused.tsx'
import { SearchField, searchWords } from '../frame/search-field.tsx'
import { SessionView } from './session-view.tsx'
import { ago, count, firstLine, moment } from '../words/words.ts'

type Kept = { projects: readonly KeptProject[]; conversations: readonly KeptConversation[] }

const kept = signal<Kept | undefined>(undefined)
const found = signal<readonly FoundWords[] | undefined>(undefined)

/** A search starts after a pause in typing, not with each letter. */
const typingMs = 200

/** The projects and their conversations; with search words, the entries that contain these words. */
export function ConversationsView() {
  const { id, filters } = address.value
  const search = searchWords()
  useEffect(() => {
    if (id !== undefined) return
    const waiting = setTimeout(
      () => {
        void readConversations(search)
      },
      search === '' ? 0 : typingMs,
    )
    return () => clearTimeout(waiting)
  }, [search, id])
  const at = filters.get('at') ?? undefined
  if (id !== undefined) return <SessionView key={`${id} ${at}`} session={id} at={at} />
  return (
    <section aria-labelledby="conversations-title">
      <div class="head">
        <h1 id="conversations-title">Conversations</h1>
        <SearchField label="Search in all conversations" />
      </div>
      <Refused />
      {search === '' ? <ProjectList /> : <FoundList words={search} />}
    </section>
  )
}

async function readConversations(search: string): Promise<void> {
  try {
    if (search === '') {
      const [projects, conversations] = await Promise.all([
        call(request('GET /api/projects')),
        call(request('GET /api/sessions')),
      ])
      kept.value = { projects, conversations }
    } else {
      const hits = await call(request('GET /api/search'), { q: search })
      // A late answer must not replace the answer to newer search words.
      if (search === searchWords()) found.value = hits
    }
  } catch (error) {
    refused.value = error instanceof Error ? error.message : String(error)
  }
}

function ProjectList() {
  if (!kept.value) return <p class="quiet">Reading …</p>
  const { projects, conversations } = kept.value
  if (projects.length === 0)
    return (
      <p class="empty">
        No conversation yet. Type <code>termaite</code> in the folder of a project.
      </p>
    )
  return (
    <ul class="rows projects">
      {projects.map((project) => (
        <li key={project.id}>
          <ProjectCard
            project={project}
            conversations={conversations.filter((one) => one.project === project.project)}
          />
        </li>
      ))}
    </ul>
  )
}

/** How many conversations of a project are shown at first. */
const mostShown = 5

function ProjectCard({ project, conversations }: { project: KeptProject; conversations: readonly KeptConversation[] }) {
  const { agents, bytes, words, project: folder } = project
  const older = conversations.slice(mostShown)
  return (
    <article>
      <h2>
        <span>{folder}</span>
        <span class="quiet">{[...agents, sizeWords(bytes), conversationWords(conversations.length)].join(' · ')}</span>
      </h2>
      {words === undefined ? null : (
        <p class="quiet last-words">
          {words.by}: {words.text}
        </p>
      )}
      <SessionRows conversations={conversations.slice(0, mostShown)} />
      {older.length === 0 ? null : (
        <details>
          <summary>{count(older.length)} older</summary>
          <SessionRows conversations={older} />
        </details>
      )}
      <details>
        <summary>New conversation</summary>
        <PromptForm project={project.id} />
      </details>
    </article>
  )
}

const conversationWords = (number: number) => `${count(number)} ${number === 1 ? 'conversation' : 'conversations'}`

function SessionRows({ conversations }: { conversations: readonly KeptConversation[] }) {
  return (
    <ul class="sessions">
      {conversations.map(({ id, title, last, turns }) => (
        <li class={rowClass} key={id}>
          <a href={sessionLink(id)}>{firstLine(title)}</a>{' '}
          <span class="quiet">
            {count(turns)} {turns === 1 ? 'turn' : 'turns'} ·{' '}
            <time dateTime={new Date(last).toISOString()} title={moment(last)}>
              {ago(last)}
            </time>
          </span>
        </li>
      ))}
    </ul>
  )
}

function FoundList({ words }: { words: string }) {
  const all = found.value
  if (!all) return <p class="quiet">Searching …</p>
  if (all.length === 0) return <p class="empty">These words stand in no conversation.</p>
  return (
    <ul class="rows">
      {all.map(({ session, entry, title, by, at, snippet }) => (
        <li class={rowClass} key={`${session} ${entry}`}>
          <a class="card" href={sessionLink(session, entry)}>
            <strong>
              {markedWords(snippet, words).map(({ text, isMarked }, key) =>
                isMarked ? <mark key={key}>{text}</mark> : text,
              )}
            </strong>
            <span class="quiet">
              {by} in {firstLine(title)} · {ago(at)}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}
