import type { Option, Question, Shown } from '../../../core/talk/question.ts'
import type { AgentQuestion, Task } from '../../../hub/model/tasks/task.ts'
import { useState } from 'preact/hooks'
import { effectWords, optionKeys } from '../../../core/talk/consent.ts'
import { LineForm } from '../frame/line-form.tsx'
import { act } from '../hub/act.ts'
import { request } from '../hub/page-request.ts'
import { TextDiff } from '../diff/diff-view.tsx'
import { VisibleWords } from '../words/visible-words.tsx'
import { fileDiff } from '../diff/file-diff.ts'

export type Asked = Pick<Question, 'text' | 'options'> &
  Partial<Pick<Question, 'multiple' | 'free' | 'marked' | 'secret' | 'shows'>>

type QuestionFormProps = {
  asked: Asked
  answer(picks: string[]): void
  /** Whether the keys a and r mean yes and no here. */
  yesAndNo?: boolean
}

/**
 * A question with its subject and its options, numbered as in the terminal. `answer` gets the picked options, or the person's own text if
 * the question allows that.
 */
export function QuestionForm({ asked, answer, yesAndNo = false }: QuestionFormProps) {
  const { text, options, multiple, shows = [], secret } = asked
  const [words, setWords] = useState('')
  const [marked, setMarked] = useState<readonly string[]>(asked.marked ?? [])
  const keys = optionKeys(options)
  /** The key for yes or no: it belongs to the first answer of that meaning. */
  const also = ({ id, means }: Option) => {
    const isFirst = options.find((option) => option.means === means)?.id === id
    return !yesAndNo || !isFirst ? undefined : means === 'once' ? 'a' : means === 'no' ? 'r' : undefined
  }
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
      <pre class="text">
        <VisibleWords text={text} />
      </pre>
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
          {options.map((option, at) => (
            <button
              type="button"
              key={option.id}
              data-key={String(keys[at])}
              data-also={also(option)}
              data-means={option.means}
              onClick={() => answer([option.id])}
            >
              <kbd>{keys[at]}</kbd> {also(option) === undefined ? null : <kbd>{also(option)}</kbd>} {option.label}
              <Effect option={option} />
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

/** Describes what an answer allows and covers, because its number says nothing about its danger. */
function Effect({ option }: { option: Option }) {
  const words = effectWords(option)
  if (words === undefined) return null
  return (
    <small class="why" data-means={option.means}>
      {` ${words}`}
    </small>
  )
}

/** The content that the person agrees to: a command, a change of a file, or a text. */
function ShownPart({ shown }: { shown: Shown }) {
  if (shown.type === 'text')
    return (
      <pre class="text">
        <VisibleWords text={shown.text} />
      </pre>
    )
  if (shown.type === 'diff')
    return (
      <>
        {shown.danger === undefined ? null : <p class="why">{shown.danger}</p>}
        <TextDiff text={fileDiff(shown.path, shown.before ?? '', shown.after)} />
      </>
    )
  return (
    <>
      <pre class="command">
        <VisibleWords text={shown.command} />
      </pre>
      {(shown.marks ?? []).map(({ from, to, why }) => (
        <p class="why" key={from}>
          <code>
            <VisibleWords text={shown.command.slice(from, to)} />
          </code>
          : {why}
        </p>
      ))}
    </>
  )
}

/** The question of an agent at the hub. */
export function AgentQuestionForm({ asks, agent }: { asks: AgentQuestion; agent: string }) {
  const answer = (picks: string[]) => act(request('POST /api/agents/:id/answer', { id: agent }), { picks })
  return <QuestionForm asked={asks} answer={answer} />
}

/** The question of a blocked task: answered with free text, or with one of its options if the hub asks. */
export function BlockedForm({ task }: { task: Task }) {
  const { options, question = '' } = task
  const answer = (picks: string[]) => act(request('POST /api/tasks/:id/answer', { id: task.id }), { picks })
  if (options) return <QuestionForm asked={{ text: question, options }} answer={answer} />
  return (
    <>
      <pre class="text">
        <VisibleWords text={task.question ?? task.why ?? ''} />
      </pre>
      <LineForm label="Your answer" placeholder="your answer" button="Answer" send={(text) => answer([text])} />
    </>
  )
}
