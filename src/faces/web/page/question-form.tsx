import type { Question, Shown } from '../../../core/talk/question.ts'
import { useState } from 'preact/hooks'
import { DiffText } from './diff-text.tsx'
import { fileDiff } from './file-diff.ts'

type Asked = Pick<Question, 'text' | 'options' | 'multiple' | 'free' | 'marked' | 'secret' | 'shows'>

/**
 * A question with what it is about and its options, numbered as in the terminal. `answer` gets the picked options, or the person's
 * own words where they are allowed.
 */
export function QuestionForm({ asked, answer }: { asked: Asked; answer(picks: string[]): void }) {
  const { text, options, multiple, shows = [], secret } = asked
  const [words, setWords] = useState('')
  const [marked, setMarked] = useState<readonly string[]>(asked.marked ?? [])
  const isFree = asked.free === true || options.length === 0
  if (secret) return <p>{text} A secret is typed at the terminal that asks for it, and not here.</p>
  const send = () => {
    if (words.trim() !== '') answer([words])
    else if (multiple) answer([...marked])
  }
  return (
    <form
      class="question"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <pre class="text">{text}</pre>
      {shows.map((shown, at) => (
        <ShownPart shown={shown} key={at} />
      ))}
      {multiple ? (
        <ul class="choices">
          {options.map(({ id, label }) => (
            <li key={id}>
              <label>
                <input
                  type="checkbox"
                  checked={marked.includes(id)}
                  onInput={({ currentTarget: { checked } }) =>
                    setMarked(checked ? [...marked, id] : marked.filter((one) => one !== id))
                  }
                />{' '}
                {label}
              </label>
            </li>
          ))}
        </ul>
      ) : (
        <p class="buttons">
          {options.map(({ id, label }, at) => (
            <button type="button" key={id} data-key={String(at + 1)} onClick={() => answer([id])}>
              <kbd>{at + 1}</kbd> {label}
            </button>
          ))}
        </p>
      )}
      {isFree || multiple ? (
        <p class="line">
          {isFree ? (
            <input
              aria-label="Your answer"
              placeholder="your answer"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          ) : null}
          <button type="submit">Answer</button>
        </p>
      ) : null}
    </form>
  )
}

/** The thing that the person agrees to: a command, a change of a file, or a text. */
function ShownPart({ shown }: { shown: Shown }) {
  if (shown.type === 'text') return <pre class="text">{shown.text}</pre>
  if (shown.type === 'diff')
    return (
      <>
        {shown.danger === undefined ? null : <p class="why">{shown.danger}</p>}
        <DiffText text={fileDiff(shown.path, shown.before ?? '', shown.after)} />
      </>
    )
  return (
    <>
      <pre class="command">{shown.command}</pre>
      {(shown.marks ?? []).map(({ from, to, why }) => (
        <p class="why" key={from}>
          <code>{shown.command.slice(from, to)}</code>: {why}
        </p>
      ))}
    </>
  )
}
