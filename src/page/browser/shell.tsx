import type { ComponentChild } from 'preact'
import { computed, effect, signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { address } from './frame/page-address.ts'
import { AgentView } from './agents/agent-view.tsx'
import { AgentsView } from './agents/agents-view.tsx'
import { HubPause } from './agents/pauses.tsx'
import { standing, trouble } from './hub/page-connection.ts'
import { agents, inbox, isReadingOlder, me, shownChange, taskCount, turns } from './hub/page-state.ts'
import { ConversationsView } from './talk/conversations-view.tsx'
import { InboxView } from './inbox/inbox-view.tsx'
import { KeysOverlay } from './frame/keys-overlay.tsx'
import { handleKey, keysAreShown } from './frame/list-keys.ts'
import { Notices } from './frame/notices.tsx'
import { isOutdated } from './hub/installed-page.ts'
import { SessionView } from './talk/session-view.tsx'
import { SignInsView } from './frame/sign-ins-view.tsx'
import { TaskView } from './tasks/task-view.tsx'
import { TasksView } from './tasks/tasks-view.tsx'
import { TerminalsView } from './terminals/terminals-view.tsx'
import { TurnsView } from './talk/turns-view.tsx'
import { UsageView } from './usage/usage-view.tsx'
import { clockTime } from './words/words.ts'
import { allowNotifications, permission } from './notifications.ts'

/** A view of the page. `key` opens it after g. */
type View = {
  name: string
  title: string
  key: string
  roles?: readonly string[]
  count?: () => number
  show(id?: string): ComponentChild
}

const views: readonly View[] = [
  { name: 'inbox', title: 'Inbox', key: 'i', count: () => waitingForMe.value, show: () => <InboxView /> },
  {
    name: 'turns',
    title: 'Turns',
    key: 'r',
    roles: ['admin'],
    count: () => turns.value.size,
    show: () => <TurnsView />,
  },
  {
    name: 'agents',
    title: 'Agents',
    key: 'a',
    count: () => agents.value.size,
    show: (id) => (id === undefined ? <AgentsView /> : <AgentView id={id} />),
  },
  {
    name: 'tasks',
    title: 'Tasks',
    key: 't',
    count: () => taskCount.value,
    show: (id) => (id === undefined ? <TasksView /> : <TaskView id={id} />),
  },
  {
    name: 'terminals',
    title: 'Terminals',
    key: 'e',
    roles: ['admin'],
    show: (id) => (id === undefined ? <TerminalsView /> : <TerminalsView id={id} />),
  },
  { name: 'conversations', title: 'Conversations', key: 'c', roles: ['admin'], show: () => <ConversationsView /> },
  { name: 'usage', title: 'Usage', key: 'u', roles: ['admin'], show: () => <UsageView /> },
  { name: 'sign-ins', title: 'Sign-ins', key: 's', roles: ['member', 'admin'], show: () => <SignInsView /> },
]

const waitingForMe = computed(() => inbox.value.filter(({ needsMe }) => needsMe).length)

/** The views that this person may open; the hub itself refuses the others. */
const open = computed(() => views.filter(({ roles }) => !roles || roles.includes(me.value?.role ?? '')))

const shown = computed(() => open.value.find(({ name }) => name === address.value.view) ?? open.value[0]!)

effect(() => {
  const waiting = waitingForMe.value
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${shown.value.title} · termaite`
})

addEventListener('keydown', (event) => {
  handleKey(event, open.value)
})

/** When the page stopped being live; undefined while it is live. */
const lostAt = signal<number | undefined>(undefined)

effect(() => {
  if (standing.value === 'live') lostAt.value = undefined
  else if (standing.value === 'offline' && lostAt.peek() === undefined) lostAt.value = Date.now()
})

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
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          // The address names the view, so the link must not change it.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to the content
      </a>
      <header>
        <strong class="mark">termaite</strong>
        <Navigation />
        <Connection />
        <NotificationsButton />
        <button class="help" aria-label="Show all keys" title="Keys (?)" onClick={() => (keysAreShown.value = true)}>
          ?
        </button>
      </header>
      <Lost />
      <HubPause />
      {isOutdated.value ? (
        <p class="updated" role="status">
          termaite was updated. <button onClick={() => location.reload()}>Load the new page</button>
        </p>
      ) : null}
      <Main />
      <Notices />
      <p class="sr-only" role="status">
        {waitingForMe.value === 0 ? '' : `${waitingForMe.value} in the inbox need you`}
      </p>
      <KeysOverlay views={open.value} />
    </>
  )
}

/** The views in the bar of a phone; the others need one more tap. */
const inBar = new Set(['inbox', 'agents', 'tasks', 'turns'])

function Navigation() {
  const [isOpen, setOpen] = useState(false)
  const link = ({ name, title, count }: View) => (
    <a
      href={`#/${name}`}
      key={name}
      aria-current={shown.value.name === name ? 'page' : undefined}
      onClick={() => setOpen(false)}
    >
      {title}
      {count && count() > 0 ? <span class="count">{count().toLocaleString('en')}</span> : null}
    </a>
  )
  return (
    <nav aria-label="Views">
      {open.value.filter(({ name }) => inBar.has(name)).map(link)}
      <button class="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        More
      </button>
      <span class={`rest ${isOpen ? 'open' : ''}`}>{open.value.filter(({ name }) => !inBar.has(name)).map(link)}</span>
    </nav>
  )
}

/** The view itself. When another view is opened, the keyboard and the screen reader start at its beginning. */
function Main() {
  const main = useRef<HTMLElement>(null)
  const { view, id } = address.value
  const place = `${view} ${id ?? ''}`
  const last = useRef(place)
  useEffect(() => {
    if (last.current === place) return
    last.current = place
    main.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [place])
  return (
    <main id="main" ref={main} tabindex={-1} class={shown.value.name}>
      {shown.value.show(id)}
    </main>
  )
}

/** Says that the shown state may be old, and since when. */
function Lost() {
  const since = lostAt.value
  if (since === undefined) return null
  const words = `since ${clockTime(since)}. The page may be outdated, and nothing that you do is sent.`
  return (
    <p class="lost" role="alert">
      {standing.value === 'behind' ? `Connected again; reading what was missed ${words}` : `Offline ${words}`}
    </p>
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
    <p
      class={`connection ${value}`}
      role="status"
      data-change={shownChange.value}
      data-tasks={isReadingOlder.value ? 'some' : 'all'}
    >
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

/** Offers notifications if the browser can show them; otherwise says what is needed for them. */
function NotificationsButton() {
  if (permission.value === 'granted') return null
  if (permission.value === 'default')
    return (
      <button
        class="notify"
        onClick={() => {
          void allowNotifications()
        }}
      >
        Notify me
      </button>
    )
  return (
    <details class="notify quiet">
      <summary>No notifications</summary>
      {permission.value === 'denied' ? (
        <p>This browser was told to show none for this page. Its settings for this address allow them again.</p>
      ) : (
        <p>
          Browsers show notifications over https and on this machine alone. The setting <code>notify</code> of termaite
          sends them to ntfy, a desktop or any command instead, with a link to this page.
        </p>
      )}
    </details>
  )
}
