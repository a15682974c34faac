import type { Asked, Closed, Plan, Told, Waits } from '../block.ts'
import type { Look } from '../look.ts'
import { moment } from '../../../../base/moment.ts'
import { isOwnQuestion, ourselves } from '../block.ts'
import { duration, lineCounts, thoughtWords, tokens } from '../../numbers.ts'
import { bounded, harmless, indented, listed, oneLine, wrapped } from '../text.ts'

/** A question that was asked, and what was said to it; while it is open its card says all that. */
export function questionLines(asked: Asked, width: number, { theme }: Look): string[] {
  if (asked.state === 'open') return []
  const labels = asked.picks.map((pick) => asked.question.options.find(({ id }) => id === pick)?.label ?? pick)
  const answer = { unanswered: ' → no answer', answered: ` → ${oneLine(labels.join(', '), 200)}` }[asked.state]
  const [first = ''] = asked.question.text.trimStart().split('\n', 1)
  // Under its name, or where the words name it, an agent need not be named again.
  const named = asked.by === undefined || asked.by === ourselves || isOwnQuestion(asked) || first.includes(asked.by)
  const from = [...asked.question.from, ...(named ? [] : [asked.by!])].map((name) => oneLine(name, 60))
  const words = `${from.length > 0 ? `${from.join(' · ')}: ` : ''}${oneLine(first)}${answer}`
  const margin = isOwnQuestion(asked) ? '  ' : ''
  return indented(
    wrapped(words, width - 2 - margin.length).map(theme.quiet),
    `${margin}  `,
    `${margin}${theme.warn('?')} `,
  )
}

/** A turn that goes on by itself, later. */
export function waitsLines({ agent, until }: Waits, width: number, { theme }: Look): string[] {
  const when = until === undefined ? '' : ` until ${moment(until)}`
  const words = `waiting for ${oneLine(agent, 60)}${when}, then it goes on by itself`
  return indented(wrapped(words, width - 2).map(theme.quiet), '  ', `${theme.warn('⏸')} `)
}

/** One line for a turn that is over: who, why that one, how long, what it changed and what it took. */
export function closingLines({ closing }: Closed, width: number, { theme }: Look): string[] {
  const { by, why, ms, thought, changed } = closing
  // A failure has said all there is to say.
  if (by === undefined && changed === undefined && closing.tokens === undefined) return []
  const parts = [
    by === undefined ? '' : oneLine(by, 60),
    why === undefined ? '' : oneLine(why, 100),
    duration(ms),
    ...(thought ? thoughtWords(thought) : []),
    changed && changed.files > 0
      ? `${changed.files} ${changed.files === 1 ? 'file' : 'files'} ${lineCounts(changed)}`
      : '',
    closing.tokens === undefined ? '' : tokens(closing.tokens, closing.source ?? 'estimated'),
  ]
  return indented(listed(parts, width - 2).map(theme.quiet), '  ', `${theme.quiet('─')} `)
}

const boxes = { pending: '☐', in_progress: '◐', completed: '☑' } as const

/** What the agent means to do. */
export function planLines({ items }: Plan, width: number, { theme }: Look): string[] {
  const done = items.filter(({ status }) => status === 'completed').length
  return [
    `  ${theme.strong('Plan')} ${theme.quiet(`${done}/${items.length}`)}`,
    ...items.flatMap(({ task, status }) => {
      const paint =
        status === 'completed' ? theme.quiet : status === 'in_progress' ? theme.strong : (text: string) => text
      return indented(wrapped(oneLine(task, 400), width - 4).map(paint), '    ', `  ${paint(boxes[status])} `)
    }),
  ]
}

/** What a command said in passing: its lines as it laid them out. */
export function toldLines({ text, how }: Told, width: number, { theme }: Look): string[] {
  const { text: shown, rest } = bounded(harmless(text).replace(/\n+$/, ''))
  const paint = how === 'error' ? theme.bad : theme.quiet
  return [...wrapped(shown, width - 2), ...(rest ? [rest] : [])].map((line) => `  ${paint(line)}`)
}
