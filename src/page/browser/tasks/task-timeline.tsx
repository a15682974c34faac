import type { TaskNote } from '../../../hub/model/tasks/task-note.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { noteWords } from '../../../hub/model/tasks/task-note.ts'
import { request } from '../hub/page-request.ts'
import { address, setFilter } from '../frame/page-address.ts'
import { call } from '../hub/page-connection.ts'
import { VirtualList } from '../lists/virtual-list.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { count, moment, stateName } from '../words/words.ts'

/** One event in the history of a task; a `message` is something that somebody wrote. */
type Happening = { key: string; at: number; by: string; words: string; isMessage: boolean }

const noteNames: Readonly<Record<TaskNote['kind'], string>> = {
  progress: 'reports',
  question: 'asks',
  answer: 'answers',
  comment: 'comments',
  response: 'responds',
}

/** The steps, tries and notes of a task in the order of their times. */
function happenings({ history, tries = [] }: Task, notes: readonly TaskNote[]): Happening[] {
  const steps = history.map(({ at, state, by, why, merged }, index) => ({
    key: `step ${index}`,
    at,
    by,
    words: [
      stateName({ state }),
      ...(why === undefined ? [] : [why]),
      ...(merged ? [`${merged.branch} was merged into ${merged.into} on ${merged.machine}`] : []),
    ].join(': '),
    isMessage: false,
  }))
  const began = tries.map(({ number, agent, began: at, machine }) => ({
    key: `try ${number}`,
    at,
    by: agent,
    words: `Try ${number} begins${machine === undefined ? '' : ` on ${machine}`}`,
    isMessage: false,
  }))
  const said = notes.map((note) => {
    const { number, at, by, kind, percentage } = note
    const part = percentage === undefined ? '' : ` (${percentage} %)`
    return {
      key: `note ${number}`,
      at,
      by,
      words: `${noteNames[kind]}${part}: ${noteWords(note)}`,
      isMessage: kind !== 'progress',
    }
  })
  return [...steps, ...began, ...said].toSorted((a, b) => a.at - b.at)
}

/** Everything that happened to a task, or only the messages. Notes that are not part of the task are loaded when they are needed. */
export function Timeline({ task }: { task: Task }) {
  const { filters } = address.value
  const onlyMessages = filters.get('show') === 'messages'
  const [older, setOlder] = useState<readonly TaskNote[]>([])
  const [trouble, setTrouble] = useState('')
  useEffect(() => setOlder([]), [task.id])
  const notes = useMemo(() => {
    const all = new Map(older.map((note) => [note.number, note]))
    for (const note of task.notes) all.set(note.number, note)
    return [...all.values()].toSorted((a, b) => a.number - b.number)
  }, [older, task.notes])
  const rows = useMemo(
    () => happenings(task, notes).filter(({ isMessage }) => isMessage || !onlyMessages),
    [task, notes, onlyMessages],
  )
  const missing = (task.noted ?? notes.length) - notes.length
  const read = async () => {
    // The newest gap is filled first; the task may contain single comments from before it.
    const numbers = new Set(notes.map(({ number }) => number))
    let before = task.noted ?? 0
    while (numbers.has(before)) before--
    const page = await call(request('GET /api/tasks/:id/notes', { id: task.id }), { before: before + 1, most: 500 })
    setOlder([...older, ...page.notes])
  }
  return (
    <section aria-labelledby="timeline-title">
      <div class="head">
        <h2 id="timeline-title">What happened</h2>
        <label>
          <input
            type="checkbox"
            checked={onlyMessages}
            onInput={({ currentTarget: { checked } }) => setFilter('show', checked ? 'messages' : '')}
          />{' '}
          Messages only
        </label>
      </div>
      {trouble === '' ? null : <p role="alert">{trouble}</p>}
      {missing > 0 ? (
        <button
          type="button"
          onClick={() => {
            read().then(
              () => setTrouble(''),
              (error: unknown) => setTrouble(error instanceof Error ? error.message : String(error)),
            )
          }}
        >
          Read older notes ({count(missing)})
        </button>
      ) : null}
      {rows.length === 0 ? (
        <p class="empty">Nobody has said anything yet.</p>
      ) : (
        <VirtualList
          label="What happened"
          class="timeline"
          count={rows.length}
          keyAt={(row) => rows[row]!.key}
          order={rows}
          estimate={56}
        >
          {(row) => <HappeningRow {...rows[row]!} />}
        </VirtualList>
      )}
    </section>
  )
}

function HappeningRow({ at, by, words }: Happening) {
  return (
    <>
      <p class="quiet">
        <time dateTime={new Date(at).toISOString()}>{moment(at)}</time> · {by}
      </p>
      <pre class="text">
        <VisibleWords text={words} />
      </pre>
    </>
  )
}
