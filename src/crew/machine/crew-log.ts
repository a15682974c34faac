import { remarkOf } from '../../core/talk/notice.ts'
import type { Entry, EntryOf } from '../../core/talk/entry.ts'
import type { Crew } from '../crew.ts'
import type { Question } from '../../core/talk/question.ts'
import { localTime } from '../../base/time/local-time.ts'
import { isEntry } from '../../core/talk/entry.ts'
import { questionWords } from '../tools/slot-view.ts'

/** Reads a slot's conversation, oldest entry first. */
export async function entriesOf(crew: Crew, id: number): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const { item } of crew.log(id).back()) if (isEntry(item)) entries.push(item)
  return entries.reverse()
}

/** Formats a slot's conversation for a person; questions in it are the agent's. */
export function logWords(entries: readonly Entry[], agent: string): string {
  const asked = new Map(entries.flatMap((entry) => (entry.type === 'question' ? [[entry.ask, entry.question]] : [])))
  return entries
    .flatMap((entry) => {
      const words = entryWords(entry, agent, asked)
      return words === undefined ? [] : [`${localTime(entry.at)} ${words}`]
    })
    .join('\n')
}

function entryWords(entry: Entry, agent: string, asked: ReadonlyMap<string, Question>): string | undefined {
  switch (entry.type) {
    case 'prompt':
      return `> ${entry.text}`
    case 'reply':
      return `${entry.by}: ${entry.text}`
    case 'question':
      return `${agent} asks: ${questionWords(entry.question)}`
    case 'answer':
      return answerWords(entry, asked.get(entry.ask))
    case 'end':
      return entry.outcome.ok ? undefined : `failed: ${entry.outcome.failure.message}`
    default: {
      const remark = remarkOf(entry)
      return remark === undefined ? undefined : `(${remark})`
    }
  }
}

/** An answer that termaite did not pass on was given in the terminal, or its question was withdrawn. */
function answerWords({ by, picks }: EntryOf<'answer'>, question: Question | undefined): string {
  if (!picks) return by === 'user' ? 'user answers: no' : '(answered in its terminal, or withdrawn)'
  const labels = picks.map((pick) => question?.options.find(({ id }) => id === pick)?.label ?? pick)
  return `${by} answers: ${labels.join(', ')}`
}
