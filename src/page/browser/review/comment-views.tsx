import type { CommentPlace, LineComment } from './line-comments.ts'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { act, actWithUndo } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { draftKey, drafts, setDraft } from './line-comments.ts'
import { VisibleWords } from '../words/visible-words.tsx'
import { ago, moment } from '../words/words.ts'

const placeWords = ({ path, line, side }: CommentPlace) =>
  `${path}:${line}${side === 'old' ? ' (before the change)' : ''}`

/** The comments on one line of a diff, and the form for a new one if it is open. */
export function LineTalk({
  task,
  place,
  comments,
}: {
  task: string
  place: CommentPlace
  comments: readonly LineComment[]
}) {
  const key = draftKey(task, place)
  const draft = drafts.value.get(key)
  return (
    <>
      {comments.map((comment) => (
        <Comment key={comment.number} task={task} comment={comment} />
      ))}
      {draft === undefined ? null : <CommentForm task={task} place={place} draft={draft} />}
    </>
  )
}

function CommentForm({ task, place, draft }: { task: string; place: CommentPlace; draft: string }) {
  const key = draftKey(task, place)
  const field = useRef<HTMLTextAreaElement>(null)
  // Only a form that was just opened takes the focus, not one that scrolling draws again.
  useLayoutEffect(() => {
    if (draft === '') field.current?.focus({ preventScroll: true })
  }, [])
  const close = () => {
    const row = field.current?.closest('[role=row]')?.previousElementSibling
    setDraft(key, undefined)
    row?.querySelector<HTMLElement>('.code')?.focus()
  }
  const send = () => {
    if (draft.trim() !== '')
      act(request('POST /api/tasks/:id/comment', { id: task }), { text: draft, at: place }, close)
  }
  return (
    <form
      class="comment-form"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={field}
        rows={2}
        aria-label={`Comment on ${placeWords(place)}`}
        placeholder="Comment on this line"
        value={draft}
        onInput={(event) => setDraft(key, event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close()
          else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
        }}
      />
      <p class="buttons">
        <button type="submit" disabled={draft.trim() === ''}>
          Comment <kbd>Ctrl+Enter</kbd>
        </button>
        <button type="button" onClick={close}>
          Discard <kbd>Esc</kbd>
        </button>
      </p>
    </form>
  )
}

/** A comment with the acts on it; with `isListed`, it is in a list and names its line. */
function Comment({ task, comment, isListed = false, link }: CommentProps) {
  const { number, by, at, text, place, resolved } = comment
  const resolve = (isResolved: boolean) =>
    act(request('POST /api/tasks/:id/comments/:number/resolve', { id: task, number }), { resolved: isResolved })
  const words = (
    <>
      <p class="quiet">
        <strong>{by}</strong>{' '}
        <time dateTime={new Date(at).toISOString()} title={moment(at)}>
          {ago(at)}
        </time>
        {isListed ? (
          <>
            {' · '}
            <a href={link}>
              <VisibleWords text={placeWords(place)} />
            </a>
          </>
        ) : null}
      </p>
      {isListed ? (
        <pre class="quote">
          <VisibleWords text={place.text} />
        </pre>
      ) : null}
      <pre class="text">
        <VisibleWords text={text} />
      </pre>
    </>
  )
  if (resolved !== undefined)
    return (
      <details class="comment resolved">
        <summary>
          Resolved by {resolved}: <VisibleWords text={text.split('\n', 1)[0]!.slice(0, 80)} />
        </summary>
        {words}
        <button type="button" onClick={() => resolve(false)}>
          Open again
        </button>
      </details>
    )
  return (
    <article class="comment">
      {words}
      <p class="buttons quiet">
        <button
          type="button"
          onClick={() =>
            actWithUndo(
              'The comment is resolved.',
              request('POST /api/tasks/:id/comments/:number/resolve', { id: task, number }),
              { resolved: true },
              () => resolve(false),
            )
          }
        >
          Resolve
        </button>
      </p>
    </article>
  )
}

type CommentProps = { task: string; comment: LineComment; isListed?: boolean; link?: string }

/** All comments on lines of a task's diffs, by try; comments on older tries say so. */
export function CommentList(props: {
  task: string
  comments: readonly LineComment[]
  newest: number
  link(place: CommentPlace): string
}) {
  const { task, comments, newest, link } = props
  if (comments.length === 0) return null
  const open = comments.filter(({ resolved }) => resolved === undefined)
  const older = (comment: LineComment) => comment.place.try < newest
  const item = (comment: LineComment) => (
    <li key={comment.number}>
      {older(comment) ? <span class="badge">on try {comment.place.try}, an older one</span> : null}
      <Comment task={task} comment={comment} isListed link={link(comment.place)} />
    </li>
  )
  return (
    <section aria-labelledby="comments-title">
      <h3 id="comments-title">
        Comments on lines <span class="count">{open.length} open</span>
      </h3>
      <ul class="comments">{open.map(item)}</ul>
      {open.length === comments.length ? null : (
        <details>
          <summary>Resolved comments ({comments.length - open.length})</summary>
          <ul class="comments">{comments.filter(({ resolved }) => resolved !== undefined).map(item)}</ul>
        </details>
      )}
    </section>
  )
}
