import type { TurnRow } from '../../../core/talk/machine-turns.ts'
import { useState } from 'preact/hooks'
import { act } from './act.ts'
import { turns } from './hub-state.ts'
import { rowClass } from './list-keys.ts'
import { Refused } from './refused.tsx'
import { QuestionForm } from './question-form.tsx'
import { ago, firstLine, moment } from './words.ts'

const turnPath = (turn: string, verb: string) => `/api/turns/${encodeURIComponent(turn)}/${verb}`

/** The turns that run on the machine now, in any terminal. */
export function TurnsView() {
  const all = [...turns.value.values()].toSorted((a, b) => a.since - b.since)
  return (
    <section aria-labelledby="turns-title">
      <h1 id="turns-title">Turns</h1>
      <Refused />
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

export function TurnQuestions({ row }: { row: TurnRow }) {
  return (
    <>
      {row.asks.map(({ ask, question }) => (
        <QuestionForm
          key={ask}
          asked={question}
          answer={(picks) => act(turnPath(row.turn, 'answer'), { ask, picks })}
        />
      ))}
    </>
  )
}

function TurnCard({ row }: { row: TurnRow }) {
  const [words, setWords] = useState('')
  const { turn, prompt, by, project, machine, since, asks } = row
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
      {row.words === undefined ? null : <p>{row.words}</p>}
      <TurnQuestions row={row} />
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          if (words.trim() !== '') act(turnPath(turn, 'steer'), { text: words }, () => setWords(''))
        }}
      >
        <input
          aria-label="Message to the agent"
          placeholder="Message to the agent at work"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <button type="submit">Send</button>
        <button type="button" data-key="x" onClick={() => act(turnPath(turn, 'cancel'))}>
          <kbd>x</kbd> Cancel the turn
        </button>
      </form>
    </article>
  )
}
