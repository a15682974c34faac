import type { Task } from '../../../core/work/task.ts'
import { useState } from 'preact/hooks'
import { act, refused, taskPath } from './act.ts'
import { DiffText } from './diff-text.tsx'
import { agents, tasks } from './hub-state.ts'
import { AgentQuestionForm, BlockedForm } from './inbox-view.tsx'
import { moment, stateName } from './words.ts'

export function TaskView({ id }: { id: string }) {
  const task = tasks.value.get(id)
  if (!task)
    return (
      <p class="empty">
        There is no task {id}. <a href="#/tasks">All tasks</a>
      </p>
    )
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
        {task.why === undefined ? '' : `: ${task.why}`} · {task.workspace}
        {task.agent === undefined ? '' : ` · ${task.agent}`}
      </p>
      {refused.value === '' ? null : <p role="alert">{refused.value}</p>}
      <pre class="text">{task.prompt}</pre>
      {asked && task.agent !== undefined ? <AgentQuestionForm asks={asked} agent={task.agent} /> : null}
      {task.state === 'BLOCKED' ? <BlockedForm task={task} /> : null}
      <Acts task={task} />
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

function Changes({ text }: { text: string }) {
  return (
    <>
      <h2>Changes</h2>
      <DiffText text={text} />
    </>
  )
}
