import type { InboxRow } from '../../../hub/model/tasks/inbox.ts'
import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { inboxEnd, markKey } from '../../../hub/model/tasks/inbox.ts'
import { address, setFilter } from '../frame/page-address.ts'
import { standing } from '../hub/page-connection.ts'
import { agents, inbox, marks, me, tasks } from '../hub/page-state.ts'
import { ItemRow } from './inbox-row.tsx'
import { rowClass } from '../frame/list-keys.ts'
import { knowPeople } from '../hub/people.ts'
import { Refused } from '../frame/refused.tsx'
import { VirtualList } from '../lists/virtual-list.tsx'

/** An item that was just resolved, and how it was resolved. */
type EndedRow = { row: InboxRow; end: string }

const ended = signal<readonly EndedRow[]>([])

/** How long a resolved row stays. */
const endedMs = 6_000
/** If more rows than this are resolved at the same time, the rest are not shown: a person could not read them. */
const mostEnded = 5

let before: readonly InboxRow[] = []

// A row that somebody else resolved says so before it disappears.
effect(() => {
  const rows = inbox.value
  const here = new Set(rows.map(({ id }) => id))
  const person = me.peek()?.name ?? ''
  const gone = before.filter(
    ({ id, needsMe }) => needsMe && !here.has(id) && !marks.peek().get(markKey({ item: id, person }))?.done,
  )
  before = rows
  // The hub sends the running turns again after each connection: until then a missing turn is not over.
  const over = gone.filter(({ turn }) => turn === undefined || standing.peek() === 'live').slice(-mostEnded)
  if (over.length === 0) return
  const told = over.map((row) => ({ row, end: inboxEnd(row, tasks.peek(), agents.peek()) }))
  ended.value = [...ended.peek(), ...told].slice(-mostEnded)
  setTimeout(() => (ended.value = ended.peek().filter((one) => !told.includes(one))), endedMs)
})

type Shown = InboxRow | EndedRow

const rowOf = (shown: Shown) => ('row' in shown ? shown.row : shown)

export function InboxView() {
  // Loads the names of the people only once the hub knows this browser: before that, the hub would refuse.
  useEffect(() => {
    if (me.value) knowPeople()
  }, [me.value?.name])
  const all = address.value.filters.get('show') === 'all'
  const needed = inbox.value.filter(({ needsMe }) => needsMe)
  const open: readonly Shown[] = all ? inbox.value : needed
  const known = new Set(open.map((shown) => rowOf(shown).id))
  const rows = [...open, ...ended.value.filter(({ row }) => !known.has(row.id))].toSorted(
    (a, b) => rowOf(a).at - rowOf(b).at || (rowOf(a).id < rowOf(b).id ? -1 : 1),
  )
  return (
    <section aria-labelledby="inbox-title">
      <div class="head">
        <h1 id="inbox-title">Inbox</h1>
        <div class="tabs" role="group" aria-label="Items to show">
          <button aria-pressed={!all} onClick={() => setFilter('show', '')}>
            Needs me <span class="count">{needed.length}</span>
          </button>
          <button aria-pressed={all} onClick={() => setFilter('show', 'all')}>
            All <span class="count">{inbox.value.length}</span>
          </button>
        </div>
      </div>
      <Refused />
      <p class="sr-only" role="status">
        {ended.value.map(({ row, end }) => `${row.title}: ${end}`).join(' ')}
      </p>
      {rows.length === 0 ? (
        <p class="empty">
          Nothing waits for you. Questions of agents, blocked tasks, failures, spent quotas and finished work that wants
          a review appear here. To give agents work, <a href="#/tasks">add a task</a>.
        </p>
      ) : (
        <VirtualList
          label="Inbox"
          count={rows.length}
          order={rows}
          estimate={170}
          rowClass={rowClass}
          keyAt={(at) => rowOf(rows[at]!).id}
        >
          {(at) => {
            const shown = rows[at]!
            return 'row' in shown ? <EndedItem {...shown} /> : <ItemRow row={shown} />
          }}
        </VirtualList>
      )}
    </section>
  )
}

function EndedItem({ row, end }: EndedRow) {
  return (
    <article class="item ended">
      <h2>
        <span>{row.title}</span>
        <span class="state">{end}</span>
      </h2>
    </article>
  )
}
