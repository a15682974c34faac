import type { OpenQuestion } from '../../../core/turns/machine-turns.ts'
import type { InboxKind, InboxRow } from '../../../hub/model/tasks/inbox.ts'
import type { QuickAct } from './inbox-acts.ts'
import type { Asked } from './question-form.tsx'
import { useState } from 'preact/hooks'
import { act, actLater, actWithUndo, held } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { agentLink, taskLink, turnLink } from '../frame/page-address.ts'
import { agents, me, pipelines, tasks, turns } from '../hub/page-state.ts'
import { answerTo, quickActs, seenTry } from './inbox-acts.ts'
import { LineForm } from '../frame/line-form.tsx'
import { useFocus } from '../frame/list-keys.ts'
import { people } from '../hub/people.ts'
import { BlockedForm, QuestionForm } from './question-form.tsx'
import { ownTime, snoozeChoices } from './snooze.ts'
import { useSwipe } from './swipe.ts'
import { VisibleWords } from '../words/visible-words.tsx'
import { ago, clockTime, moment } from '../words/words.ts'

const kindWords: Record<InboxKind, string> = {
  asks: 'question',
  blocked: 'blocked',
  review: 'review',
  failed: 'failed',
  mention: 'mention',
  parked: 'quota',
  cap: 'cap',
  disk: 'disk',
}

type Mark = { read?: boolean; done?: boolean; until?: number; owner?: string }

const hourMs = 3_600_000

/** The question of an item, as its agent or turn asks it now. */
function askedIn({ kind, agent, turn, ask, text, options }: InboxRow): Asked | undefined {
  if (options) return { text, options }
  if (kind !== 'asks') return undefined
  if (turn !== undefined) return turns.value.get(turn)?.asks.find((one: OpenQuestion) => one.ask === ask)?.question
  return agent === undefined ? undefined : agents.value.get(agent)?.asks
}

/** One item with all acts on it. */
export function ItemRow({ row }: { row: InboxRow }) {
  const { id, kind, at, title, owner, until, read } = row
  const mark = (change: Mark, done?: () => void) => act(request('POST /api/inbox/mark'), { item: id, ...change }, done)
  const undoable = (words: string, change: Mark, back: Mark) =>
    actWithUndo(words, request('POST /api/inbox/mark'), { item: id, ...change }, () => mark(back))
  const putOff = (at: number) => undoable(`Snoozed until ${moment(at)}: ${title}`, { until: at }, { until: until ?? 0 })
  const asked = askedIn(row)
  const { allow, deny } = quickActs(row, asked)
  const later = (quick: QuickAct | undefined) =>
    quick &&
    (() =>
      actLater(id, quick.words, () => {
        act(quick.to, quick.fields)
      }))
  const [isRejecting, setRejecting] = useState(false)
  const isHeld = held.value.has(id)
  const ref = useSwipe({ right: later(allow), left: later(deny) ?? (() => putOff(Date.now() + hourMs)) })
  const mine = me.value?.name ?? ''
  return (
    <article ref={ref} class={`item ${read ? 'read' : 'unread'} ${isHeld ? 'held' : ''}`}>
      <h2>
        <span class={`badge ${kind}`}>{row.about ?? kindWords[kind]}</span>
        <a href={linkOf(row)} onClick={() => mark({ read: true })}>
          <VisibleWords text={title} />
        </a>
        {owner === undefined ? null : <span class="badge">{owner === mine ? 'yours' : owner}</span>}
        <time class="quiet" dateTime={new Date(at).toISOString()} title={moment(at)}>
          {until === undefined ? ago(at) : `snoozed until ${moment(until)}`}
        </time>
      </h2>
      <ItemBody row={row} asked={asked} />
      <Links row={row} />
      <div class="buttons acts">
        {allow && !asked ? (
          <button class="good" data-key="a" disabled={isHeld} onClick={later(allow)}>
            <kbd>a</kbd> {allow.label}
          </button>
        ) : null}
        {kind === 'review' ? (
          <button data-key="r" aria-expanded={isRejecting} onClick={() => setRejecting(!isRejecting)}>
            <kbd>r</kbd> Send back …
          </button>
        ) : null}
        {kind === 'failed' && row.task !== undefined ? (
          <button
            data-key="t"
            onClick={() =>
              actWithUndo(`Tried again: ${title}`, request('POST /api/tasks/:id/retry', { id: row.task! }), {}, () =>
                act(request('POST /api/tasks/:id/cancel', { id: row.task! })),
              )
            }
          >
            <kbd>t</kbd> Try again
          </button>
        ) : null}
        {until === undefined ? (
          <SnoozeMenu title={title} putOff={putOff} />
        ) : (
          <button data-key="s" onClick={() => undoable(`Brought back: ${title}`, { until: 0 }, { until })}>
            <kbd>s</kbd> Bring back now
          </button>
        )}
        <AssignChoice
          owner={owner}
          assign={(name) =>
            undoable(
              name === '' ? `Given back: ${title}` : `Given to ${name}: ${title}`,
              { owner: name },
              { owner: owner ?? '' },
            )
          }
        />
        {row.task === undefined ? null : <CommentMenu task={row.task} />}
        <button data-key="e" onClick={() => undoable(`Done: ${title}`, { done: true }, { done: false })}>
          <kbd>e</kbd> Done
        </button>
      </div>
      {isRejecting && row.task !== undefined ? (
        <RejectForm task={row.task} row={row} close={() => setRejecting(false)} />
      ) : null}
    </article>
  )
}

export function linkOf({ task, turn, agent, pipeline }: InboxRow): string {
  if (task !== undefined) return taskLink(task)
  if (turn !== undefined) return turnLink(turn)
  const [first] = pipelines.value.get(pipeline ?? '')?.tasks ?? []
  if (first !== undefined) return taskLink(first)
  return agent === undefined ? '#/tasks' : agentLink(agent)
}

/** Links to the task, agent and turn of an item. */
function Links({ row: { kind, task, agent, turn, machine } }: { row: InboxRow }) {
  const known = agent !== undefined && agents.value.has(agent)
  if (task === undefined && turn === undefined && !known && machine === undefined) return null
  return (
    <p class="links quiet">
      {task === undefined ? null : <a href={taskLink(task)}>{kind === 'review' ? 'Task and its review' : 'Task'}</a>}
      {known ? <a href={agentLink(agent)}>Agent {agent}</a> : null}
      {turn === undefined ? null : <a href={turnLink(turn)}>Turn</a>}
      {machine === undefined ? null : <span>on {machine}</span>}
    </p>
  )
}

/** The subject of an item, and the form to answer it. */
function ItemBody({ row, asked }: { row: InboxRow; asked: Asked | undefined }) {
  const { kind, task, text, parkedUntil } = row
  if (asked) {
    const answer = (picks: string[]) => {
      const sent = answerTo(row, picks)
      if (sent) act(sent.to, sent.fields)
    }
    return <QuestionForm asked={asked} answer={answer} yesAndNo />
  }
  const blocked = kind === 'blocked' && task !== undefined ? tasks.value.get(task) : undefined
  if (blocked) return <BlockedForm task={blocked} />
  return (
    <>
      {parkedUntil === undefined ? null : <p>Back at {clockTime(parkedUntil)}.</p>}
      <pre class="text clipped">
        <VisibleWords text={text} />
      </pre>
    </>
  )
}

function SnoozeMenu({ title, putOff }: { title: string; putOff(at: number): void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <span class="menu">
      <button data-key="s" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <kbd>s</kbd> Put off …
      </button>
      {isOpen ? (
        <SnoozeChoices
          title={title}
          close={() => setOpen(false)}
          choose={(at) => {
            setOpen(false)
            putOff(at)
          }}
        />
      ) : null}
    </span>
  )
}

function SnoozeChoices({ title, close, choose }: { title: string; close(): void; choose(at: number): void }) {
  const first = useFocus<HTMLButtonElement>()
  const [own, setOwn] = useState('')
  const until = ownTime(own, Date.now())
  return (
    <span
      class="choices"
      role="group"
      aria-label={`Put off: ${title}`}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      {snoozeChoices(Date.now()).map(({ label, at }, place) => (
        <button key={label} ref={place === 0 ? first : null} title={moment(at)} onClick={() => choose(at)}>
          {label}
        </button>
      ))}
      <input
        type="datetime-local"
        aria-label="A time of your own"
        value={own}
        onInput={(event) => setOwn(event.currentTarget.value)}
      />
      <button disabled={until === undefined} onClick={() => until !== undefined && choose(until)}>
        until then
      </button>
    </span>
  )
}

function AssignChoice({ owner = '', assign }: { owner: string | undefined; assign(name: string): void }) {
  const mine = me.value?.name ?? ''
  const others = people.value.filter((name) => name !== mine)
  return (
    <>
      <button data-key="m" onClick={() => assign(owner === mine ? '' : mine)}>
        <kbd>m</kbd> {owner === mine ? 'Give back' : 'Assign it to me'}
      </button>
      {others.length === 0 ? null : (
        <select
          aria-label="Give it to"
          value={others.includes(owner) ? owner : ''}
          onInput={(event) => assign(event.currentTarget.value)}
        >
          <option value="">Give to …</option>
          {others.map((name) => (
            <option value={name} key={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </>
  )
}

function CommentMenu({ task }: { task: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <span class="menu">
      <button data-key="c" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <kbd>c</kbd> Comment …
      </button>
      {isOpen ? <CommentForm task={task} close={() => setOpen(false)} /> : null}
    </span>
  )
}

/** The form for a comment on the task of an item; @ followed by a name puts it into that person's inbox. */
function CommentForm({ task, close }: { task: string; close(): void }) {
  const field = useFocus<HTMLInputElement>()
  const [words, setWords] = useState('')
  const others = people.value.filter((name) => name !== me.value?.name)
  return (
    <form
      class="choices"
      onSubmit={(event) => {
        event.preventDefault()
        if (words.trim() !== '') act(request('POST /api/tasks/:id/comment', { id: task }), { text: words }, close)
      }}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <input
        aria-label="Comment; @ and a name mention a person"
        placeholder="Comment; @name mentions somebody"
        value={words}
        ref={field}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      {others.map((name) => (
        <button type="button" key={name} onClick={() => setWords(`${words}${words === '' ? '' : ' '}@${name} `)}>
          @{name}
        </button>
      ))}
      <button type="submit">Comment</button>
    </form>
  )
}

function RejectForm({ task, row, close }: { task: string; row: InboxRow; close(): void }) {
  return (
    <LineForm
      label="What should be changed"
      placeholder="What should be changed"
      button="Send back"
      focus
      send={(text) => act(request('POST /api/tasks/:id/reject', { id: task }), { ...seenTry(row), text }, close)}
      close={close}
    />
  )
}
