import type { ComponentChild } from 'preact'
import type { FileChange } from '../../../core/talk/entry.ts'
import type { AgentRow, AttemptBlock, Block, CallBlock, QuestionBlock } from '../../../chat/transcript/block.ts'
import { toolWords } from '../../../core/data/tool-words.ts'
import { typedPrompt } from '../../../core/talk/file-references.ts'
import { failureSentence } from '../../../core/talk/outcome.ts'
import { cutWords } from '../../../core/talk/shown-words.ts'
import { duration, thoughtWords, tokens } from '../../../chat/style/numbers.ts'
import { inputSummary, inputText } from '../../../chat/transcript/call-input.ts'
import { safeText } from '../../../chat/style/safe-text.ts'
import { TextDiff } from '../diff/diff-view.tsx'
import { fileDiff } from '../diff/file-diff.ts'
import { Markdown } from './markdown-view.tsx'
import { moment } from '../words/words.ts'

/** The act of a person on a block: answering its question. */
type BlockActs = { questionForm(question: QuestionBlock): ComponentChild }

/** One block of a conversation, as in the chat; calls, thinking and summaries are folded. */
export function BlockView({ block, acts }: { block: Block; acts: BlockActs }) {
  switch (block.type) {
    case 'prompt':
    case 'steer':
      return (
        <>
          <Author name={block.by === 'user' || block.by === undefined ? 'You' : block.by} />
          <pre class="text">{safeText(typedPrompt(block.text))}</pre>
        </>
      )
    case 'note':
    case 'told':
      return <p class="quiet">{safeText(block.text)}</p>
    case 'summary':
      return (
        <Folded title={block.title}>
          <Markdown text={block.text} />
        </Folded>
      )
    case 'reply':
      return (
        <>
          <Author name={block.by ?? 'agent'} live={block.live} />
          <Left count={block.dropped} words="earlier" />
          <Markdown text={block.text} />
          <Left count={block.more} words="more" />
          {block.cut === undefined || block.failed ? null : <p class="why">{cutWords[block.cut]}</p>}
        </>
      )
    case 'thought':
      return (
        <Folded title={block.live ? 'Thinking …' : 'Thinking'}>
          <Markdown text={block.text} />
        </Folded>
      )
    case 'call':
      return <CallView block={block} />
    case 'attempt':
      return block.said === '' ? (
        <p class="why">{attemptWords(block)}</p>
      ) : (
        <Folded title={attemptWords(block)} kind="why">
          <Markdown text={block.said} />
        </Folded>
      )
    case 'error':
      return (
        <>
          <p class="failed">{safeText(block.failure.message)}</p>
          {block.said === '' ? null : <Markdown text={block.said} />}
        </>
      )
    case 'waits':
      return (
        <p class="quiet">
          Waits for {block.agent}
          {block.until === undefined ? '.' : ` until ${moment(block.until)}.`}
        </p>
      )
    case 'question':
      return <QuestionView block={block} acts={acts} />
    case 'plan':
      return (
        <ul class="plan" aria-label="Plan">
          {block.items.map(({ task, status }, at) => (
            <li key={at} class={status}>
              <span aria-hidden="true">{planMarks[status]}</span> {safeText(task)}
              <span class="sr-only"> ({status.replace('_', ' ')})</span>
            </li>
          ))}
        </ul>
      )
    case 'board':
      return (
        <ul class="rows" aria-label="Agents inside this turn">
          {block.rows.map((row) => (
            <li key={row.key}>
              <RowView row={row} acts={acts} />
            </li>
          ))}
        </ul>
      )
    case 'closing': {
      const { by, ms, thought, tokens: used, source } = block.closing
      const words = [
        ...(by === undefined ? [] : [by]),
        ...(thought ? thoughtWords(thought) : []),
        duration(ms),
        ...(used === undefined || source === undefined ? [] : [tokens(used, source)]),
      ]
      return <p class="quiet closing">{words.join(' · ')}</p>
    }
  }
}

function attemptWords({ by = 'The agent', failure, next }: AttemptBlock): string {
  const words = failureSentence(by, failure)
  return next === undefined ? words : `${words.replace(/\.$/, '')}. ${next} took over.`
}

const planMarks = { pending: '○', in_progress: '▸', completed: '✓' } as const

function Author({ name, live = false }: { name: string; live?: boolean }) {
  return (
    <p class="author">
      <strong>{name}</strong>
      {live ? <span class="speaking"> is speaking</span> : null}
    </p>
  )
}

function Left({ count = 0, words }: { count?: number; words: string }) {
  if (count === 0) return null
  return (
    <p class="quiet">
      … {count.toLocaleString('en')} {words} characters: <code>termaite sessions show</code> has the whole.
    </p>
  )
}

function Folded({ title, kind = 'quiet', children }: { title: string; kind?: string; children: ComponentChild }) {
  return (
    <details class="folded">
      <summary class={kind}>{safeText(title)}</summary>
      {children}
    </details>
  )
}

const callStates: Record<CallBlock['state'], string> = {
  running: 'running',
  ok: 'done',
  failed: 'failed',
  stopped: 'stopped',
}

function CallView({ block }: { block: CallBlock }) {
  const { tool, input, state, ms, output, exit, changes, errors } = block
  const about = inputSummary(input)
  const facts = [
    callStates[state],
    ...(typeof exit === 'number' && exit !== 0 ? [`exit code ${exit}`] : typeof exit === 'string' ? [exit] : []),
    ...(errors === undefined ? [] : [`${errors} ${errors === 1 ? 'error' : 'errors'} found`]),
    ...(ms === undefined || ms < 1_000 ? [] : [duration(ms)]),
  ]
  return (
    <details class={`folded call ${state}`}>
      <summary>
        <code>{safeText(toolWords(tool))}</code> <span class="about">{about}</span>{' '}
        <span class="quiet">{facts.join(' · ')}</span>
      </summary>
      <pre class="command" tabindex={0}>
        {inputText(input)}
      </pre>
      {changes.map((change, at) => (
        <ChangeView key={at} change={change} />
      ))}
      {output === '' || changes.length > 0 ? null : (
        <pre class="command" tabindex={0} aria-label="Result">
          {safeText(output)}
        </pre>
      )}
    </details>
  )
}

function ChangeView({ change: { path, from, before, after, gone } }: { change: FileChange }) {
  return (
    <>
      <p class="quiet">
        {safeText(path)}
        {from === undefined ? '' : ` (was ${safeText(from)})`}
        {gone ? ' (deleted)' : before === undefined ? ' (new)' : ''}
      </p>
      <TextDiff text={fileDiff(safeText(path), safeText(before ?? ''), safeText(after))} />
    </>
  )
}

function QuestionView({ block, acts }: { block: QuestionBlock; acts: BlockActs }) {
  const { question, state, picks } = block
  const form = state === 'open' ? acts.questionForm(block) : undefined
  if (form) return <article class="asked">{form}</article>
  const labels = picks.map((pick) => question.options.find(({ id }) => id === pick)?.label ?? pick)
  const words =
    state === 'answered'
      ? `Answered: ${labels.join(', ')}`
      : state === 'open'
        ? 'Waits for an answer.'
        : 'Not answered.'
  return (
    <Folded title={`${question.agent ?? block.by ?? 'termaite'} asked: ${firstWords(question.text)} ${words}`}>
      <pre class="text">{safeText(question.text)}</pre>
      {(question.shows ?? []).map((shown, at) =>
        shown.type === 'diff' ? (
          <TextDiff
            key={at}
            text={fileDiff(safeText(shown.path), safeText(shown.before ?? ''), safeText(shown.after))}
          />
        ) : (
          <pre key={at} class="command" tabindex={0}>
            {safeText(shown.type === 'command' ? shown.command : shown.text)}
          </pre>
        ),
      )}
      <ul>
        {question.options.map(({ id, label }) => (
          <li key={id}>{safeText(label)}</li>
        ))}
      </ul>
    </Folded>
  )
}

const firstWords = (text: string) => text.split('\n', 1)[0]!.slice(0, 200)

function RowView({ row, acts }: { row: AgentRow; acts: BlockActs }) {
  const { role, by, state, ms } = row
  return (
    <details class="folded">
      <summary>
        {safeText(role)} {by === undefined ? '' : `(${by}) `}
        <span class="quiet">
          {state}
          {ms === undefined ? '' : ` · ${duration(ms)}`}
        </span>
      </summary>
      {row.blocks.map((block) => (
        <BlockView key={block.key} block={block} acts={acts} />
      ))}
    </details>
  )
}
