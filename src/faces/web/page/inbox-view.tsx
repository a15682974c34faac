import type { InboxKind, InboxRow } from '../../../core/work/inbox.ts'
import type { AgentQuestion, Task } from '../../../core/work/task.ts'
import { useState } from 'preact/hooks'
import { act, agentPath, taskPath } from './act.ts'
import { address, setFilter, taskLink } from './address.ts'
import { agents, askingTurns, inbox, me, tasks } from './hub-state.ts'
import { rowClass } from './list-keys.ts'
import { Refused } from './refused.tsx'
import { QuestionForm } from './question-form.tsx'
import { TurnQuestions } from './turns-view.tsx'
import { ago, firstLine, moment } from './words.ts'

const kindWords: Record<InboxKind, string> = {
  asks: '',
  blocked: 'Blocked: ',
  review: 'Review: ',
  failed: 'Failed: ',
  mention: 'You are mentioned: ',
}

const hourMs = 3_600_000

export function InboxView() {
  const all = address.value.filters.get('show') === 'all'
  const rows = inbox.value.filter(({ needsMe }) => all || needsMe)
  const others = inbox.value.length - inbox.value.filter(({ needsMe }) => needsMe).length
  return (
    <section aria-labelledby="inbox-title">
      <div class="head">
        <h1 id="inbox-title">Inbox</h1>
        <label>
          <input
            type="checkbox"
            checked={all}
            onInput={(event) => setFilter('show', event.currentTarget.checked ? 'all' : '')}
          />{' '}
          Also what is put off or belongs to others ({others})
        </label>
      </div>
      <Refused />
      {rows.length + askingTurns.value.length === 0 ? (
        <p class="empty">
          Nothing waits for you. Questions of agents, blocked tasks, failures and finished work that wants a review
          appear here.
        </p>
      ) : (
        <ul class="rows">
          {askingTurns.value.map((row) => (
            <li class={rowClass} key={row.turn}>
              <article class="unread">
                <h2>
                  <a href="#/turns">
                    {row.by ?? 'A turn'} asks: {firstLine(row.prompt)}
                  </a>
                </h2>
                <TurnQuestions row={row} />
              </article>
            </li>
          ))}
          {rows.map((row) => (
            <li class={rowClass} key={row.id}>
              <ItemRow row={row} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function ItemRow({ row }: { row: InboxRow }) {
  const { id, kind, at, title, text, owner, until, read } = row
  const mark = (change: object) => () => act('/api/inbox/mark', { item: id, ...change })
  const isMine = owner === me.value?.name
  return (
    <article class={read ? 'read' : 'unread'}>
      <h2>
        <a href={row.task === undefined ? '#/agents' : taskLink(row.task)} onClick={mark({ read: true })}>
          {kindWords[kind]}
          {title}
        </a>
        {owner === undefined ? null : <span class="badge">{isMine ? 'yours' : owner}</span>}
        <time class="quiet" dateTime={new Date(at).toISOString()} title={moment(at)}>
          {until === undefined ? ago(at) : `put off until ${moment(until)}`}
        </time>
      </h2>
      <ItemBody row={row} text={text} />
      <p class="buttons quiet">
        <button data-key="m" onClick={mark({ owner: isMine ? '' : me.value?.name })}>
          <kbd>m</kbd> {isMine ? 'Give back' : 'Take care of it'}
        </button>
        <button data-key="s" onClick={mark({ until: until === undefined ? Date.now() + hourMs : 0 })}>
          <kbd>s</kbd> {until === undefined ? 'Put off for an hour' : 'Bring back now'}
        </button>
        {kind === 'failed' || kind === 'mention' ? (
          <button data-key="e" onClick={mark({ done: true })}>
            <kbd>e</kbd> Put away
          </button>
        ) : null}
      </p>
    </article>
  )
}

/** The subject of an item, and the way to answer it. */
function ItemBody({ row: { kind, agent, task }, text }: { row: InboxRow; text: string }) {
  const asks = kind === 'asks' && agent !== undefined ? agents.value.get(agent)?.asks : undefined
  if (asks && agent !== undefined) return <AgentQuestionForm asks={asks} agent={agent} />
  const blocked = kind === 'blocked' && task !== undefined ? tasks.value.get(task) : undefined
  return blocked ? <BlockedForm task={blocked} /> : <pre class="text">{text}</pre>
}

/** The question of an agent at the hub, which takes the numbers of the options or words. */
export function AgentQuestionForm({ asks, agent }: { asks: AgentQuestion; agent: string }) {
  const answer = (picks: string[]) => {
    const words = picks.map((pick) => {
      const at = asks.options.findIndex(({ id }) => id === pick)
      return at < 0 ? pick : String(at + 1)
    })
    act(agentPath(agent, 'answer'), { text: words.join(' ') })
  }
  return <QuestionForm asked={asks} answer={answer} />
}

export function BlockedForm({ task }: { task: Task }) {
  const [words, setWords] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (words.trim() !== '') act(taskPath(task.id, 'answer'), { text: words })
      }}
    >
      <pre class="text">{task.question ?? task.why}</pre>
      <p class="line">
        <input
          aria-label="Your answer"
          placeholder="your answer"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <button type="submit">Answer</button>
      </p>
    </form>
  )
}
