import type { Task } from '../../../core/work/task.ts'
import { useState } from 'preact/hooks'
import { act, taskPath } from './act.ts'
import { DiffText } from './diff-text.tsx'
import { agents, tasks, whyWaits } from './hub-state.ts'
import { AgentQuestionForm, BlockedForm } from './inbox-view.tsx'
import { moment, stateName, tokenWords } from './words.ts'
import { Refused } from './refused.tsx'

export function TaskView({ id }: { id: string }) {
  const task = tasks.value.get(id)
  if (!task)
    return (
      <p class="empty">
        There is no task {id}. <a href="#/tasks">All tasks</a>
      </p>
    )
  const why = whyWaits(task)
  const asks = task.agent === undefined ? undefined : agents.value.get(task.agent)?.asks
  const asked = asks?.task === task.id ? asks : undefined
  return (
    <section aria-labelledby="task-title" class="task">
      <p>
        <a href="#/tasks">← All tasks</a>
      </p>
      <h1 id="task-title">Task {task.id}</h1>
      <p class="quiet">
        {stateName(task)}
        {why === undefined ? '' : `: ${why}`} · {task.workspace}
        {task.agent === undefined ? '' : ` · ${task.agent}`}
      </p>
      <Refused />
      <pre class="text">{task.prompt}</pre>
      {asked && task.agent !== undefined ? <AgentQuestionForm asks={asked} agent={task.agent} /> : null}
      {task.state === 'BLOCKED' ? <BlockedForm task={task} /> : null}
      <Acts task={task} />
      <Tries task={task} />
      {task.result ? (
        <>
          <h2>Answer</h2>
          <pre class="text">{task.result.message}</pre>
          {task.result.diff ? <Changes text={task.result.diff} /> : null}
        </>
      ) : null}
      <h2>What happened</h2>
      <ol class="timeline">
        {timeline(task).map(({ at, words }) => (
          <li key={`${at} ${words}`}>
            <time class="quiet" dateTime={new Date(at).toISOString()}>
              {moment(at)}
            </time>
            <pre class="text">{words}</pre>
          </li>
        ))}
      </ol>
    </section>
  )
}

function timeline({ history, notes }: Task): { at: number; words: string }[] {
  const steps = history.map(({ at, state, by, why }) => ({
    at,
    words: `${state} by ${by}${why === undefined ? '' : `: ${why}`}`,
  }))
  const said = notes.map(({ at, by, kind, text }) => ({ at, words: `${by}, ${kind}: ${text}` }))
  return [...steps, ...said].toSorted((a, b) => a.at - b.at)
}

function Acts({ task }: { task: Task }) {
  const [words, setWords] = useState('')
  const { state } = task
  const send = (verb: string, body?: object) => () => act(taskPath(task.id, verb), body, () => setWords(''))
  const over = ['APPROVED', 'COMPLETED', 'FAILED', 'CANCELLED'].includes(state)
  return (
    <div class="acts">
      <p class="line">
        <input
          aria-label="Comment"
          placeholder={state === 'IN_REVIEW' ? 'Comment, or what is to be changed' : 'Comment'}
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <button disabled={words.trim() === ''} onClick={send('comment', { text: words })}>
          Comment
        </button>
      </p>
      <p class="buttons">
        {state === 'IN_REVIEW' ? (
          <>
            <button class="good" onClick={send('approve')}>
              Approve
            </button>
            <button disabled={words.trim() === ''} onClick={send('reject', { text: words })}>
              Send back with the comment
            </button>
          </>
        ) : null}
        {state === 'FAILED' || state === 'CANCELLED' ? <button onClick={send('retry')}>Try again</button> : null}
        {over ? null : <button onClick={send('cancel', {})}>Cancel the task</button>}
      </p>
    </div>
  )
}

/** The earlier tries of a task, each with its answer and its changes, and the cost of all tries. */
function Tries({ task: { tries = [] } }: { task: Task }) {
  const earlier = tries.slice(0, -1)
  const spent = tries.flatMap(({ spent: used }) => (used ? [used] : []))
  const total = spent.reduce((sum, { tokens }) => sum + tokens, 0)
  const cost = spent.reduce((sum, used) => sum + (used.cost ?? 0), 0)
  return (
    <>
      {total === 0 ? null : (
        <p class="quiet">
          {tries.length === 1 ? 'One try' : `${tries.length} tries`} · {tokenWords(total)} tokens
          {cost === 0 ? '' : ` · $${cost.toFixed(2)}`}
        </p>
      )}
      {earlier.map((one) => (
        <details key={one.number}>
          <summary>
            Try {one.number} by {one.agent}: {tryEnds[one.end ?? ''] ?? 'at work'}
            {one.spent === undefined ? '' : `, ${tokenWords(one.spent.tokens)} tokens`}
          </summary>
          {one.result ? <pre class="text">{one.result.message}</pre> : null}
          {one.result?.diff ? <DiffText text={one.result.diff} /> : null}
        </details>
      ))}
    </>
  )
}

const tryEnds: Readonly<Record<string, string>> = {
  QUEUED: 'given back',
  BLOCKED: 'ended with a question',
  IN_REVIEW: 'ended with a result',
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

function Changes({ text }: { text: string }) {
  return (
    <>
      <h2>Changes</h2>
      <DiffText text={text} />
    </>
  )
}
