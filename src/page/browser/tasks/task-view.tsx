import type { Task } from '../../../hub/model/tasks/task.ts'
import { wholeName } from '../../../hub/model/tasks/workspace.ts'
import { spentOn } from '../../../hub/model/tasks/spending-cap.ts'
import { agents, tasks, useTask, whyWaits, pipelines, schedules } from '../hub/page-state.ts'
import { agentLink, taskLink } from '../frame/page-address.ts'
import { TaskFiles } from './attachment-list.tsx'
import { AgentQuestionForm, BlockedForm, QuestionForm } from '../inbox/question-form.tsx'
import { TaskReview } from '../review/task-review.tsx'
import { Timeline } from './task-timeline.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { durationWords, firstLine, moment, stateName, tokenWords, ago } from '../words/words.ts'
import { pipelineOptions, pipelineState } from '../../../hub/model/tasks/pipeline.ts'
import { act } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'

/** Prompts with more characters than this are folded. */
const longPrompt = 1_200

/** A task with everything about it: its prompt, its open question, the review of its work, its tries and its history. */
export function TaskView({ id }: { id: string }) {
  const { task, isRead, why: missing = `There is no task ${id}.` } = useTask(id)
  if (!task)
    return isRead ? (
      <p class="empty">
        {missing} <a href="#/tasks">All tasks</a>
      </p>
    ) : (
      <p class="empty">Reading the task …</p>
    )
  const why = whyWaits(task)
  const asks = task.agent === undefined ? undefined : agents.value.get(task.agent)?.asks
  const asked = asks?.task === task.id ? asks : undefined
  return (
    <section aria-labelledby="task-title" class="task">
      <p>
        <a href="#/tasks">← All tasks</a>
      </p>
      <h1 id="task-title">
        <VisibleWords text={firstLine(task.prompt).slice(0, 200)} />
      </h1>
      <p class="quiet facts">
        <span class="badge">{stateName(task)}</span>
        {why === undefined ? null : (
          <span>
            <VisibleWords text={why} />
          </span>
        )}
        <span>
          in <VisibleWords text={wholeName(task.workspace)} />
        </span>
        {task.agent === undefined ? null : (
          <a href={agentLink(task.agent)}>
            <VisibleWords text={task.agent} />
          </a>
        )}
        {task.priority === 0 ? null : <span>priority {task.priority}</span>}
        <span>added {moment(task.created)}</span>
        <span>task {task.id}</span>
      </p>
      <Prompt text={task.prompt} />
      <TaskFiles task={task} />
      <Needs needs={task.needs} />
      {asked && task.agent !== undefined ? <AgentQuestionForm asks={asked} agent={task.agent} /> : null}
      {task.state === 'BLOCKED' ? <BlockedForm task={task} /> : null}
      <TaskReview task={task} />
      <PipelinePart task={task} />
      <Tries task={task} />
      <Timeline task={task} />
    </section>
  )
}

function Prompt({ text }: { text: string }) {
  const words = (
    <pre class="text">
      <VisibleWords text={text} />
    </pre>
  )
  if (text.length <= longPrompt) return text.trim() === firstLine(text).trim() && text.length <= 200 ? null : words
  return (
    <details>
      <summary>The whole prompt</summary>
      {words}
    </details>
  )
}

/** The tasks that must be done first. */
function Needs({ needs }: { needs: readonly string[] }) {
  if (needs.length === 0) return null
  return (
    <p class="quiet">
      Comes after{' '}
      {needs.map((id, at) => {
        const need = tasks.value.get(id)
        return (
          <span key={id}>
            {at === 0 ? '' : ', '}
            <a href={taskLink(id)}>{need ? firstLine(need.prompt).slice(0, 80) : id}</a>
            {need ? ` (${stateName(need)})` : ''}
          </span>
        )
      })}
    </p>
  )
}

const ends: Readonly<Record<string, string>> = {
  QUEUED: 'given back',
  BLOCKED: 'ended with a question',
  IN_REVIEW: 'ended with a result',
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
}

/** The tries of a task with the cost of each, and their total. */
function Tries({ task }: { task: Task }) {
  const { id, tries = [] } = task
  const all = spentOn(task)
  if (tries.length === 0 || (tries.length === 1 && all.tokens === 0)) return null
  const money = (cost: number | undefined) => (cost === undefined ? '' : `$${cost.toFixed(2)}`)
  return (
    <section aria-labelledby="tries-title">
      <h2 id="tries-title">Tries</h2>
      <div class="wide-table" tabIndex={0} role="region" aria-label="Table of the tries">
        <table>
          <thead>
            <tr>
              <th scope="col">Try</th>
              <th scope="col">Agent</th>
              <th scope="col">End</th>
              <th scope="col" class="number">
                Time
              </th>
              <th scope="col" class="number">
                Tokens
              </th>
              <th scope="col" class="number">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {tries.map(({ number, agent, machine, began, ended, end, spent }) => (
              <tr key={number}>
                <th scope="row">
                  <a href={`${taskLink(id)}?try=${number}`}>Try {number}</a>
                </th>
                <td>
                  {agent}
                  {machine === undefined ? '' : ` on ${machine}`}
                </td>
                <td>{ends[end ?? ''] ?? 'at work'}</td>
                <td class="number">{ended === undefined ? '' : durationWords(ended - began)}</td>
                <td class="number">{spent === undefined ? '' : tokenWords(spent.tokens)}</td>
                <td class="number">{money(spent?.cost)}</td>
              </tr>
            ))}
          </tbody>
          {all.tokens > 0 && tries.length > 1 ? (
            <tfoot>
              <tr>
                <th scope="row">All</th>
                <td />
                <td />
                <td />
                <td class="number">{tokenWords(all.tokens)}</td>
                <td class="number">{money(all.cost)}</td>
              </tr>
            </tfoot>
          ) : null}
        </table>
      </div>
    </section>
  )
}

/** The pipeline of a task: its state, its open question, and all its tasks. */
function PipelinePart({ task: { id: shown, pipeline: place } }: { task: Task }) {
  const pipeline = pipelines.value.get(place?.id ?? '')
  if (!pipeline) return null
  const { id, name, asks, paused, note } = pipeline
  const schedule = schedules.value.get(pipeline.schedule ?? '')
  const all = pipeline.tasks.flatMap((each) => tasks.value.get(each) ?? [])
  const state = pipelineState(pipeline, all)
  const isOver = state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED'
  const done = all.filter((task) => task.state === 'COMPLETED' || task.state === 'APPROVED').length
  return (
    <section aria-labelledby="pipeline-title">
      <h2 id="pipeline-title">Pipeline {name}</h2>
      <p class="quiet">
        {schedule ? `Run of the schedule ${schedule.name}. ` : ''}
        {done} of {pipeline.tasks.length} tasks are done.{' '}
        {paused ? `Paused by ${paused.by}; no further task begins.` : ''} {note ?? ''}
      </p>
      {asks ? (
        <QuestionForm
          asked={{
            text: `The pipeline has ${asks.passed}. Running tasks continue; no further one begins. What should happen next?`,
            options: pipelineOptions(asks),
          }}
          answer={(picks) => act(request('POST /api/pipelines/:id/answer', { id }), { picks })}
        />
      ) : null}
      <ul class="rows">
        {all.map((task) => (
          <li key={task.id}>
            {task.id === shown ? (
              <strong>{task.pipeline?.name}</strong>
            ) : (
              <a href={taskLink(task.id)}>{task.pipeline?.name}</a>
            )}{' '}
            <span class="quiet">
              {stateName(task)} · {ago(task.moved)}
            </span>
          </li>
        ))}
      </ul>
      {isOver ? null : (
        <p class="buttons">
          <button onClick={() => act(request(`POST /api/pipelines/:id/${paused ? 'resume' : 'pause'}`, { id }))}>
            {paused ? 'Resume the pipeline' : 'Pause the pipeline'}
          </button>
          <button onClick={() => act(request('POST /api/pipelines/:id/cancel', { id }))}>Cancel the pipeline</button>
        </p>
      )}
    </section>
  )
}
