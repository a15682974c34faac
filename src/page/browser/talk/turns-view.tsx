import type { TurnRow } from '../../../core/turns/machine-turns.ts'
import { act } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { sessionLink } from '../frame/page-address.ts'
import { turns } from '../hub/page-state.ts'
import { LineForm } from '../frame/line-form.tsx'
import { rowClass } from '../frame/list-keys.ts'
import { MachinesLine } from '../frame/machines-line.tsx'
import { Refused } from '../frame/refused.tsx'
import { QuestionForm } from '../inbox/question-form.tsx'
import { ago, firstLine, moment } from '../words/words.ts'

/** The turns that are running on all machines now, in any terminal. */
export function TurnsView() {
  const all = [...turns.value.values()].toSorted((a, b) => a.since - b.since)
  return (
    <section aria-labelledby="turns-title">
      <h1 id="turns-title">Turns</h1>
      <Refused />
      <MachinesLine what="turns" />
      {all.length === 0 ? (
        <p class="empty">
          No turn runs. A prompt in the chat or with <code>termaite -p</code> appears here while an agent works on it.
        </p>
      ) : (
        <ul class="rows">
          {all.map((row) => (
            <li class={rowClass} key={row.turn}>
              <TurnCard row={row} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function TurnQuestions({ row }: { row: TurnRow }) {
  if (row.onlyReading)
    return (
      <>
        {row.asks.map(({ ask, question }) => (
          <p key={ask}>
            The agent asks: {question.text} <span class="quiet">{row.machine} takes no answers from here.</span>
          </p>
        ))}
      </>
    )
  return (
    <>
      {row.asks.map(({ ask, question }) => (
        <QuestionForm
          key={ask}
          asked={question}
          answer={(picks) => act(request('POST /api/turns/:id/answer', { id: row.turn }), { ask, picks })}
        />
      ))}
    </>
  )
}

function TurnCard({ row }: { row: TurnRow }) {
  const { prompt, by, project, machine, since, asks, session } = row
  return (
    <article>
      <h2>
        <span>{firstLine(prompt)}</span>
        <span class={`state ${asks.length > 0 ? 'asking' : 'working'}`}>{asks.length > 0 ? 'asking' : 'working'}</span>
      </h2>
      <p class="quiet">
        {by === undefined ? '' : `${by} · `}
        {project === undefined ? '' : `${project} · `}
        {machine} ·{' '}
        <time dateTime={new Date(since).toISOString()} title={moment(since)}>
          since {ago(since)}
        </time>
      </p>
      <p>
        <a href={sessionLink(session)}>Read along</a>
      </p>
      {row.words === undefined ? null : <p>{row.words}</p>}
      <TurnQuestions row={row} />
      <TurnActs row={row} />
    </article>
  )
}

/** The acts of a person on a running turn: sending it a message, or cancelling it. */
export function TurnActs({ row: { turn, machine, onlyReading } }: { row: TurnRow }) {
  if (onlyReading)
    return <p class="quiet">You can read along. {machine} lets nobody steer or cancel its turns from elsewhere.</p>
  return (
    <LineForm
      label="Message to the agent"
      placeholder="Message to the working agent"
      button="Send"
      send={(text, clear) => act(request('POST /api/turns/:id/steer', { id: turn }), { text }, clear)}
    >
      <button type="button" data-key="x" onClick={() => act(request('POST /api/turns/:id/cancel', { id: turn }))}>
        <kbd>x</kbd> Cancel the turn
      </button>
    </LineForm>
  )
}
