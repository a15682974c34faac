import type { Slot } from '../../crew/slot.ts'
import { allowanceWords, optionKeys } from '../../core/talk/consent.ts'
import { questionWords } from '../../crew/tools/slot-view.ts'
import { oneLine, table } from '../../base/text/table.ts'

type TableOptions = {
  /** Writes the time since when a slot has been in its state. */
  when(at: number): string
  /** The command that answers a question; the slot's number is added. */
  answer: string
  /** The width of the terminal; without one, lines are not cut. */
  columns?: number | undefined
}

/** Indents the reason or question below its slot. */
const indent = ' '.repeat('SLOT  '.length)

/** Writes the crew as a table. */
export function crewTable(slots: readonly Slot[], { when, answer, columns = Infinity }: TableOptions): string {
  const [head, ...rows] = table([
    ['SLOT', 'AGENT', 'STATE', 'SINCE', 'TASK'],
    ...slots.map((slot) => [String(slot.id), slot.agent, stateWords(slot), when(slot.since), oneLine(slot.task, 80)]),
  ]).split('\n')
  const cut = (row: string) => (row.length > columns ? `${row.slice(0, columns - 1)}…` : row)
  const below = slots.map((slot) => saying(slot, answer).map((line) => indent + line))
  return [head, ...rows.flatMap((row, at) => [cut(row), ...below[at]!])].join('\n')
}

function stateWords({ state, why, needs, queue }: Slot): string {
  if (state === 'held') return `waiting for slot ${needs.join(', ')}`
  if (why && why.length <= short) return `${state} (${why})`
  return queue.length > 0 && state !== 'starting' ? `${state}, ${queue.length} queued` : state
}

/** The note beside the state. */
const short = 24

/** How much of a reason or question is shown; `answer` shows it whole. */
const most = 200

/** The question that the user must answer, and the command for it. */
function saying({ id, state, why, asks }: Slot, answer: string): string[] {
  const asked = state === 'asking' ? asks?.[0]?.question : undefined
  if (!asked) return !why || why.length <= short ? [] : [oneLine(why, most)]
  const keys = optionKeys(asked.options)
  const options = asked.options.map((option, at) => {
    const allows = allowanceWords(option)
    return `${keys[at]} ${oneLine(option.label, 60)}${allows === undefined ? '' : ` (${allows})`}`
  })
  return [`asks: ${oneLine(questionWords(asked), most)}`, `${answer} ${id} <${options.join(' | ')}>`]
}
