import type { TaskMerge, TaskTry, TryReview } from '../../../hub/model/tasks/task-try.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import { useRef, useState } from 'preact/hooks'
import { act, actLater, actWithUndo, held, refused, tell } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { HubRefusal, call } from '../hub/page-connection.ts'
import { draftsOf, setDraft } from './line-comments.ts'
import { usePageKeys } from '../frame/page-keys.ts'
import { Refused } from '../frame/refused.tsx'
import { moment } from '../words/words.ts'

type VerdictProps = { task: Task; tried: TaskTry | undefined; open: number; tryLink(number: number): string }

/** A person's acts on a task: comment, approve, merge, send back, retry, cancel. */
export function Verdict({ task, tried, open, tryLink }: VerdictProps) {
  const [words, setWords] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const approveButton = useRef<HTMLButtonElement>(null)
  const { id, state } = task
  const newest = task.tries?.at(-1)?.number
  const isReview = state === 'IN_REVIEW'
  const isOver = ['APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED'].includes(state)
  const isMerged = task.tries?.some(({ reviews = [] }) => reviews.some(({ merged }) => merged)) === true
  const canMerge =
    tried?.branch !== undefined && !isMerged && (isReview || state === 'APPROVED' || state === 'COMPLETED')
  const isHeld = held.value.has(`verdict ${id}`)
  const unsent = draftsOf(id).filter(({ text }) => text.trim() !== '')
  const toSend = open + unsent.length
  const named = tried === undefined ? {} : { try: tried.number }
  const later = (notice: string, send: () => Promise<string>) =>
    actLater(`verdict ${id}`, notice, () => {
      refused.value = ''
      send().then((done) => tell(done), refuse)
    })
  const approve = (merge: boolean) =>
    later(merge ? 'Approving and merging …' : 'Approving …', async () => {
      const answer = await call(request('POST /api/tasks/:id/approve', { id }), merge ? { ...named, merge } : named)
      return answer.merged ? `Approved. ${mergeWords(answer.merged)}` : 'Approved.'
    })
  const reject = () =>
    later('Sending the task back …', async () => {
      for (const { key, place, text } of unsent) {
        await call(request('POST /api/tasks/:id/comment', { id }), { text, at: place })
        setDraft(key, undefined)
      }
      await call(request('POST /api/tasks/:id/reject', { id }), {
        ...named,
        text: words.trim() === '' ? undefined : words,
      })
      setWords('')
      return 'The task was sent back with the comments.'
    })
  usePageKeys({
    a: isReview ? () => approveButton.current?.focus() : undefined,
    r: () => field.current?.focus(),
  })
  const where = tried?.machine === undefined ? '' : ` on ${tried.machine}`
  return (
    <section class="verdict" aria-labelledby="verdict-title">
      <h3 id="verdict-title">{isReview ? `Your verdict on try ${tried?.number ?? newest ?? ''}` : 'What to do'}</h3>
      {(tried?.reviews ?? []).map((review) => (
        <p key={review.at} class={review.verdict === 'approved' ? 'good' : 'why'}>
          {reviewWords(review)}
        </p>
      ))}
      <Refused />
      {tried && newest !== undefined && newest > tried.number ? (
        <p class="why">
          You look at try {tried.number}; try {newest} is newer, and only the newest one can be approved.{' '}
          <a href={tryLink(newest)}>Look at try {newest}</a>
        </p>
      ) : null}
      <textarea
        ref={field}
        rows={2}
        aria-label="Comment"
        placeholder={isReview ? 'Comment, or say what should be changed ( r )' : 'Comment ( r )'}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <p class="buttons">
        <button
          type="button"
          disabled={words.trim() === ''}
          onClick={() =>
            act(request('POST /api/tasks/:id/comment', { id }), { text: words }, () => {
              setWords('')
              tell('The comment is added.')
            })
          }
        >
          Comment
        </button>
        {isReview ? (
          <>
            <button type="button" disabled={isHeld || (words.trim() === '' && toSend === 0)} onClick={reject}>
              Send back{toSend === 0 ? '' : ` with ${toSend === 1 ? 'the comment' : `${toSend} comments`} on lines`}
            </button>
            <button ref={approveButton} type="button" class="good" disabled={isHeld} onClick={() => approve(false)}>
              Approve <kbd>a</kbd>
            </button>
          </>
        ) : null}
        {canMerge ? (
          <button type="button" class="good" disabled={isHeld} onClick={() => approve(true)}>
            {isReview ? 'Approve and merge' : 'Merge'} {tried.branch}
            {where}
          </button>
        ) : null}
        {state === 'FAILED' || state === 'CANCELLED' ? (
          <button type="button" onClick={() => act(request('POST /api/tasks/:id/retry', { id }))}>
            Try again
          </button>
        ) : null}
        {isOver ? null : (
          <button
            type="button"
            onClick={() =>
              actWithUndo('The task is cancelled.', request('POST /api/tasks/:id/cancel', { id }), {}, () =>
                act(request('POST /api/tasks/:id/retry', { id })),
              )
            }
          >
            Cancel the task
          </button>
        )}
      </p>
      {isReview && tried?.branch === undefined ? (
        <p class="quiet">The try names no branch, so that there is nothing to merge.</p>
      ) : null}
    </section>
  )
}

function refuse(error: unknown): void {
  refused.value =
    error instanceof HubRefusal
      ? error.message
      : 'The hub cannot be reached, so nothing was sent. Try again when the page is connected.'
}

const mergeWords = ({ machine, branch, into, commit }: TaskMerge) =>
  `${branch} was merged into ${into} on ${machine}, as ${commit.slice(0, 10)}.`

function reviewWords({ at, by, verdict, text, merged }: TryReview): string {
  const said = text === undefined ? '' : `: ${text}`
  const done = verdict === 'approved' ? 'Approved' : 'Sent back'
  return `${done} by ${by}, ${moment(at)}${said}${merged ? `. ${mergeWords(merged)}` : ''}`
}
