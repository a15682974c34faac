import type { ComponentChild } from 'preact'
import { computed, effect } from '@preact/signals'
import { address } from './address.ts'
import { AgentsView } from './agents-view.tsx'
import { standing, trouble } from './hub-connection.ts'
import { agents, askingTurns, inbox, me, tasks, turns } from './hub-state.ts'
import { ConversationsView } from './conversations-view.tsx'
import { InboxView } from './inbox-view.tsx'
import { handleKey } from './list-keys.ts'
import { SessionView } from './session-view.tsx'
import { SignInsView } from './sign-ins-view.tsx'
import { TaskView } from './task-view.tsx'
import { TasksView } from './tasks-view.tsx'
import { TurnsView } from './turns-view.tsx'
import { UsageView } from './usage-view.tsx'

type View = {
  name: string
  title: string
  roles?: readonly string[]
  count?: () => number
  show(id?: string): ComponentChild
}

const views: readonly View[] = [
  { name: 'inbox', title: 'Inbox', count: () => waitingForMe.value, show: () => <InboxView /> },
  { name: 'turns', title: 'Turns', roles: ['admin'], count: () => turns.value.size, show: () => <TurnsView /> },
  { name: 'agents', title: 'Agents', count: () => agents.value.size, show: () => <AgentsView /> },
  {
    name: 'tasks',
    title: 'Tasks',
    count: () => tasks.value.size,
    show: (id) => (id === undefined ? <TasksView /> : <TaskView id={id} />),
  },
  { name: 'conversations', title: 'Conversations', roles: ['admin'], show: () => <ConversationsView /> },
  { name: 'usage', title: 'Usage', roles: ['admin'], show: () => <UsageView /> },
  { name: 'sign-ins', title: 'Sign-ins', roles: ['member', 'admin'], show: () => <SignInsView /> },
]

const waitingForMe = computed(() => inbox.value.filter(({ needsMe }) => needsMe).length + askingTurns.value.length)

/** The views that this person may open; the hub refuses the others by itself. */
const open = computed(() => views.filter(({ roles }) => !roles || roles.includes(me.value?.role ?? '')))

const shown = computed(() => open.value.find(({ name }) => name === address.value.view) ?? open.value[0]!)

effect(() => {
  const waiting = waitingForMe.value
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${shown.value.title} · termaite`
})

addEventListener('keydown', handleKey)

/** The frame around every view: navigation, the state of the connection, and the view itself. */
export function Shell() {
  if (standing.value === 'signed out') return <SignedOut />
  if (me.value?.session !== undefined)
    return (
      <main id="main">
        <SessionView session={me.value.session} />
      </main>
    )
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <strong class="mark">termaite</strong>
        <nav aria-label="Views">
          {open.value.map(({ name, title, count }) => (
            <a href={`#/${name}`} aria-current={shown.value.name === name ? 'page' : undefined}>
              {title}
              {count && count() > 0 ? <span class="count">{count()}</span> : null}
            </a>
          ))}
        </nav>
        <Connection />
      </header>
      <main id="main" tabindex={-1}>
        {shown.value.show(address.value.id)}
      </main>
    </>
  )
}

function Connection() {
  const { value } = standing
  const words = {
    connecting: 'Connecting …',
    behind: 'Reading what was missed …',
    live: me.value ? `${me.value.name} · ${me.value.role}` : 'Live',
    offline: `${trouble.value} Trying again …`,
    'signed out': '',
  }[value]
  return (
    <p class={`connection ${value}`} role="status">
      <span class="dot" aria-hidden="true" />
      {words}
    </p>
  )
}

function SignedOut() {
  return (
    <main class="alone">
      <h1>termaite</h1>
      <p>{trouble.value}</p>
      <p>
        To sign in, run <code>termaite dashboard</code> in a terminal, or type <code>/dashboard</code> in the chat, and
        open the link that it prints.
      </p>
    </main>
  )
}
