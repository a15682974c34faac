import type { Schedule } from '../../../hub/model/plans/schedule.ts'
import { useState } from 'preact/hooks'
import { taskLink } from '../frame/page-address.ts'
import { act } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { me, pipelines, schedules } from '../hub/page-state.ts'
import { VisibleWords } from '../words/visible-words.tsx'
import { clockTime, count, moment } from '../words/words.ts'

/** The schedules of the hub, the one that runs next first: when each runs, when it last ran, and a person's acts on it. */
export function Schedules() {
  const all = [...schedules.value.values()].toSorted((a, b) => due(a) - due(b) || a.created - b.created)
  const [first] = all
  if (!first) return null
  return (
    <details class="schedules">
      <summary>
        {all.length === 1 ? '1 schedule' : `${count(all.length)} schedules`}
        {due(first) === Infinity ? '' : `, next run ${clockTime(due(first))}`}
      </summary>
      <ul class="cards">
        {all.map((schedule) => (
          <ScheduleRow key={schedule.id} schedule={schedule} />
        ))}
      </ul>
    </details>
  )
}

/** The time at which a schedule runs next; Infinity if it is paused or has no time left. */
const due = ({ next, paused }: Schedule) => (paused ? Infinity : (next ?? Infinity))

function ScheduleRow({ schedule }: { schedule: Schedule }) {
  const { id, name, cron, zone, overlap, next, paused, last, runs, skipped, by } = schedule
  const [isAsked, setAsked] = useState(false)
  return (
    <li>
      <article>
        <h2>
          <VisibleWords text={name} />
          {paused ? <span class="state paused">paused by {paused.by}</span> : null}
        </h2>
        <p>
          {paused ? null : next === undefined ? 'There is no time for a next run · ' : <>Next run {timeOf(next)} · </>}
          {last ? <LastRun last={last} /> : 'No run yet'}
        </p>
        <p class="quiet">
          <code>{cron}</code> ({zone}) ·{' '}
          {runs === 0 ? '' : `${count(runs)} ${runs === 1 ? 'run' : 'runs'}${skippedWords(skipped)} · `}
          {overlap === 'skip' ? 'skips a time if the previous run is not over · ' : ''}added by {by}
        </p>
        {me.value?.role === 'observer' ? null : isAsked ? (
          <div class="buttons acts" role="group" aria-label={`Remove the schedule ${name}?`}>
            <span>
              Remove the schedule <VisibleWords text={name} /> with its plan? Pipelines that it began go on.
            </span>
            <button onClick={() => act(request('POST /api/schedules/:id/remove', { id }))}>Remove it</button>
            <button onClick={() => setAsked(false)}>Keep it</button>
          </div>
        ) : (
          <div class="buttons acts">
            <button
              title={paused ? 'Times that passed meanwhile do not run' : 'Begins no run until it is resumed'}
              onClick={() => act(request(`POST /api/schedules/:id/${paused ? 'resume' : 'pause'}`, { id }))}
            >
              {paused ? 'Resume' : 'Pause'}
            </button>
            <button onClick={() => setAsked(true)}>Remove …</button>
          </div>
        )}
      </article>
    </li>
  )
}

const skippedWords = (skipped: number) => (skipped > 0 ? `, ${count(skipped)} skipped` : '')

/** The last run, as a link to its first task if the page has its pipeline. */
function LastRun({ last }: { last: NonNullable<Schedule['last']> }) {
  const task = pipelines.value.get(last.pipeline)?.tasks[0]
  return <>Last run {task === undefined ? timeOf(last.at) : <a href={taskLink(task)}>{timeOf(last.at)}</a>}</>
}

const timeOf = (at: number) => (
  <time dateTime={new Date(at).toISOString()} title={moment(at)}>
    {clockTime(at)}
  </time>
)
