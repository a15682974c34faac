import type { Task } from '../../../hub/model/tasks/task.ts'
import { pipelineOptions, pipelineState } from '../../../hub/model/tasks/pipeline.ts'
import { act } from '../hub/act.ts'
import { request } from '../hub/hub-request.ts'
import { taskLink } from '../frame/address.ts'
import { pipelines, schedules, tasks } from '../hub/hub-state.ts'
import { QuestionForm } from '../inbox/question-form.tsx'
import { ago, stateName } from '../words/words.ts'

/** The pipeline of a task: its state, its open question, and all its tasks. */
export function PipelinePart({ task: { id: shown, pipeline: place } }: { task: Task }) {
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
            text: `The pipeline has ${asks.passed}. Tasks at work go on; no further one begins. How should it go on?`,
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
