import type { AgentQuestion } from '../../../core/work/task.ts'
import { useState } from 'preact/hooks'
import { act } from './act.ts'

/** The options of an agent's question as buttons, numbered as in the terminal, and a field for words where words are allowed. */
export function QuestionForm({ asks, path }: { asks: AgentQuestion; path: string }) {
  const [words, setWords] = useState('')
  const free = asks.free === true || asks.options.length === 0
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault()
        if (words.trim() !== '') act(path, { text: words })
      }}
    >
      <pre class="text">{asks.text}</pre>
      {asks.multiple ? null : (
        <p class="buttons">
          {asks.options.map(({ label }, at) => (
            <button type="button" data-key={String(at + 1)} onClick={() => act(path, { text: String(at + 1) })}>
              <kbd>{at + 1}</kbd> {label}
            </button>
          ))}
        </p>
      )}
      {asks.multiple ? (
        <ol>
          {asks.options.map(({ label }) => (
            <li>{label}</li>
          ))}
        </ol>
      ) : null}
      {free || asks.multiple ? (
        <p class="line">
          <input
            aria-label={asks.multiple ? 'Numbers of your choice' : 'Your answer'}
            placeholder={asks.multiple ? 'numbers, as in 1 3' : 'your answer'}
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
          <button type="submit">Answer</button>
        </p>
      ) : null}
    </form>
  )
}
