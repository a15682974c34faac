import type { TaskTry } from '../../../hub/model/tasks/task-try.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import type { CommentPlace } from './line-comments.ts'
import type { LoadedDiff } from '../diff/diff-loading.ts'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { sizeWords } from '../../../base/text/size-words.ts'
import { lookedItem, markKey } from '../../../hub/model/tasks/inbox.ts'
import { request } from '../hub/page-request.ts'
import { address, setFilter, setFilters, taskLink } from '../frame/page-address.ts'
import { CommentList, LineTalk } from './comment-views.tsx'
import { useDiff } from '../diff/diff-loading.ts'
import { DiffView } from '../diff/diff-view.tsx'
import { call } from '../hub/page-connection.ts'
import { marks, me } from '../hub/page-state.ts'
import { draftKey, draftsOf, lineOf, placeKey, placeOf, setDraft, useLineComments } from './line-comments.ts'
import { usePageKeys } from '../frame/page-keys.ts'
import { Evidence } from './task-evidence.tsx'
import { Verdict } from './task-verdict.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { count, durationWords, tokenWords } from '../words/words.ts'

/** From this width on, a diff is shown side by side unless the person chose otherwise. */
const wide = matchMedia('(min-width: 110rem)')

/**
 * The work of one try: its answer, the evidence, the verdict and the changes. The address names the try, and the earlier try to compare
 * with.
 */
export function TaskReview({ task }: { task: Task }) {
  const { filters } = address.value
  const tries = task.tries ?? []
  const asked = Number(filters.get('try'))
  const tried = tries.find(({ number }) => number === asked) ?? tries.findLast(({ result }) => result) ?? tries.at(-1)
  const comments = useLineComments(task)
  const link = (number: number, place?: CommentPlace) => {
    const query = new URLSearchParams({ try: String(number) })
    if (place) {
      query.set('since', 'all')
      query.set('file', place.path)
      query.set('line', `${place.side === 'old' ? 'o' : 'n'}${place.line}`)
    }
    return `${taskLink(task.id)}?${query}`
  }
  const open = comments.filter(({ resolved }) => resolved === undefined).length
  const verdict = <Verdict task={task} tried={tried} open={open} tryLink={(number) => link(number)} />
  if (!tried) return verdict
  return (
    <section class="review" aria-labelledby="review-title">
      <div class="head">
        <h2 id="review-title">{tries.length === 1 ? 'Result' : `Try ${tried.number} of ${tries.length}`}</h2>
        <p class="quiet">{tryWords(tried)}</p>
        {tries.length > 1 ? (
          <label>
            Show{' '}
            <select
              value={String(tried.number)}
              onChange={({ currentTarget: { value } }) => (location.hash = link(Number(value)))}
            >
              {tries.map(({ number, agent }) => (
                <option key={number} value={String(number)}>
                  try {number} by {agent}
                </option>
              ))}
            </select>
          </label>
        ) : null}
      </div>
      <div class="review-top">
        <div>
          {tried.result ? (
            <>
              <h3>Answer</h3>
              <pre class="text">
                <VisibleWords text={tried.result.message} />
              </pre>
              <Artifacts artifacts={tried.result.artifacts ?? []} />
            </>
          ) : (
            <p class="empty">This try has no answer yet.</p>
          )}
        </div>
        <div>
          {tried.result ? <Evidence task={task.id} tried={tried} /> : null}
          {verdict}
        </div>
      </div>
      <CommentList
        task={task.id}
        comments={comments}
        newest={tries.at(-1)!.number}
        link={(place) => link(place.try, place)}
      />
      <Changes key={`${task.id} ${tried.number}`} task={task} tried={tried} comments={comments} />
    </section>
  )
}

function tryWords({ agent, machine, branch, began, ended, spent }: TaskTry): string {
  return [
    `by ${agent}${machine === undefined ? '' : ` on ${machine}`}`,
    ...(branch === undefined ? [] : [`branch ${branch}`]),
    ...(ended === undefined ? ['at work'] : [`took ${durationWords(ended - began)}`]),
    ...(spent === undefined ? [] : [`${tokenWords(spent.tokens)} tokens`]),
    ...(spent?.cost === undefined ? [] : [`$${spent.cost.toFixed(2)}`]),
  ].join(' · ')
}

/** The artifacts that an agent names in its answer. Only addresses of this page are links; everything else is text. */
function Artifacts({ artifacts }: { artifacts: readonly unknown[] }) {
  if (artifacts.length === 0) return null
  return (
    <>
      <h3>Artifacts</h3>
      <ul class="artifacts">
        {artifacts.map((artifact, at) => {
          const text = typeof artifact === 'string' ? artifact : JSON.stringify(artifact, undefined, 2)
          return (
            <li key={at}>
              {/^#\/[\w/?=&%.-]*$/.test(text) ? (
                <a href={text}>{text}</a>
              ) : (
                <pre class="text">
                  <VisibleWords text={text.slice(0, 20_000)} />
                </pre>
              )}
            </li>
          )
        })}
      </ul>
    </>
  )
}

type ChangesProps = { task: Task; tried: TaskTry; comments: ReturnType<typeof useLineComments> }

/** The changes of a try: all of them, or those since an earlier try. */
function Changes({ task, tried, comments }: ChangesProps) {
  const { filters } = address.value
  const earlier = (task.tries ?? []).filter(({ number, diff }) => number < tried.number && diff)
  const looked = marks.value.get(markKey({ item: lookedItem(task.id), person: me.value?.name ?? '' }))?.try
  // The last look is the one before this page was opened: looking at the changes now must not hide them.
  const [lastLook, setLastLook] = useState(looked)
  const [isMarked, setMarked] = useState(false)
  useEffect(() => {
    if (lastLook === undefined && !isMarked) setLastLook(looked)
  }, [looked])
  const chosen = filters.get('since') ?? String(lastLook ?? '')
  const since = earlier.find(({ number }) => String(number) === chosen)
  useEffect(() => {
    if (filters.get('since') === null && since) setFilter('since', String(since.number))
  }, [since?.number])
  const loaded = useDiff(task.id, tried, since)
  const isSplit = (filters.get('view') ?? (wide.matches ? 'split' : 'unified')) === 'split'
  const look = () => {
    if (isMarked || (looked ?? 0) >= tried.number) return
    setMarked(true)
    // The hub stores no marks for a person who may only read.
    call(request('POST /api/tasks/:id/looked', { id: task.id }), { try: tried.number }).catch(() => {})
  }
  useEffect(() => {
    if (!tried.diff && tried.ended !== undefined) look()
  }, [tried.ended])
  usePageKeys({
    s:
      lastLook === undefined && earlier.length === 0
        ? undefined
        : () => setFilter('since', since ? 'all' : String(earlier.at(-1)!.number)),
    v: () => setFilter('view', isSplit ? 'unified' : 'split'),
  })
  if (!tried.diff) return tried.result ? <p class="empty">This try sent no changes.</p> : null
  return (
    <section class="changes" aria-labelledby="changes-title">
      <div class="head">
        <h3 id="changes-title">Changes</h3>
        <p class="buttons">
          {earlier.length > 0 ? (
            <label>
              Show{' '}
              <select
                value={since ? String(since.number) : 'all'}
                onChange={({ currentTarget: { value } }) => setFilter('since', value)}
              >
                <option value="all">all changes</option>
                {earlier.map(({ number }) => (
                  <option key={number} value={String(number)}>
                    {number === lastLook ? 'since my last look' : 'since'} (try {number} → {tried.number})
                  </option>
                ))}
              </select>{' '}
              <kbd>s</kbd>
            </label>
          ) : null}
          <button type="button" aria-pressed={isSplit} onClick={() => setFilter('view', isSplit ? 'unified' : 'split')}>
            Side by side <kbd>v</kbd>
          </button>
        </p>
      </div>
      {tried.diff.cut ? (
        <p class="why">The hub kept only the first {sizeWords(tried.diff.bytes)} of this diff.</p>
      ) : null}
      {loaded ? (
        <LoadedChanges {...{ task, tried, since, comments, loaded, isSplit, look }} />
      ) : (
        <p class="empty">Reading the changes ({sizeWords(tried.diff.bytes)}) …</p>
      )}
    </section>
  )
}

type LoadedProps = ChangesProps & { since: TaskTry | undefined; loaded: LoadedDiff; isSplit: boolean; look(): void }

function LoadedChanges({ task, tried, since, comments, loaded, isSplit, look }: LoadedProps) {
  const { diff, version, notes, isRead, trouble } = loaded
  const { filters } = address.value
  const shown = { tried, since }
  const written = draftsOf(task.id)
  const places = [...comments.map(({ place }) => place), ...written.map(({ place }) => place)]
  const names = places.map(placeKey).join('\n')
  const lines = useMemo(
    () => new Set(places.map((place) => lineOf(diff, place, shown)).filter((line) => line >= 0)),
    [diff, version, names],
  )
  const talk = {
    lines,
    begin(line: number) {
      const place = placeOf(diff, line, shown)
      const key = place && draftKey(task.id, place)
      if (key !== undefined && !written.some((draft) => draft.key === key)) setDraft(key, '')
    },
    show(line: number) {
      const place = placeOf(diff, line, shown)
      if (!place) return null
      const here = comments.filter((comment) => placeKey(comment.place) === placeKey(place))
      return <LineTalk task={task.id} place={place} comments={here} />
    },
  }
  // A file that the person went to on this page is already in the address, and must not be scrolled to again.
  const gone = useRef('')
  const file = filters.get('file')
  const [, side, number] = /^([on])(\d+)$/.exec(filters.get('line') ?? '') ?? []
  const start = useMemo(() => {
    if (file === null || !isRead || gone.current === file) return undefined
    if (number === undefined) return { path: file }
    const place = { try: tried.number, path: file, line: Number(number), side: side === 'o' ? 'old' : 'new' } as const
    return { path: file, line: lineOf(diff, place, shown) }
  }, [file, side, number, isRead])
  if (trouble !== undefined) return <p role="alert">{trouble}</p>
  if (isRead && diff.files.length === 0)
    return (
      <p class="empty">
        {since
          ? `Nothing in the files changed between try ${since.number} and try ${tried.number}.`
          : 'The diff is empty.'}
      </p>
    )
  return (
    <>
      {isRead ? null : (
        <p class="quiet" role="status">
          Reading the changes: {count(diff.files.length)} files, {sizeWords(diff.byteCount)} of{' '}
          {sizeWords(tried.diff?.bytes ?? 0)} …
        </p>
      )}
      <DiffView
        diff={diff}
        version={version}
        isSplit={isSplit}
        talk={talk}
        onFile={(path) => {
          gone.current = path
          setFilters({ file: path, line: '' })
        }}
        onEnd={() => isRead && look()}
        {...(notes ? { notes } : {})}
        {...(start ? { start } : {})}
      />
    </>
  )
}
