import type { Entry } from '../../core/talk/entry.ts'
import type { Crew } from '../../crew/crew.ts'
import { moment } from '../../base/moment.ts'
import { isEntry } from '../../core/talk/entry.ts'

/** A slot's conversation, oldest first. */
export async function entriesOf(crew: Crew, id: number): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const { item } of crew.log(id).back()) if (isEntry(item)) entries.push(item)
  return entries.reverse()
}

/** As a person reads it. */
export function logWords(entries: readonly Entry[]): string {
  return entries
    .flatMap((entry) => {
      const words = entryWords(entry)
      return words === undefined ? [] : [`${moment(entry.at)} ${words}`]
    })
    .join('\n')
}

function entryWords(entry: Entry): string | undefined {
  switch (entry.type) {
    case 'prompt':
      return `> ${entry.text}`
    case 'reply':
      return `${entry.by}: ${entry.text}`
    case 'question':
      return `${entry.by} asks: ${entry.question.text}`
    case 'answer':
      return `${entry.by} answers: ${entry.picks?.join(', ') ?? 'nothing'}`
    case 'note':
      return `(${entry.text})`
    case 'end':
      return entry.outcome.ok ? undefined : `failed: ${entry.outcome.failure.message}`
    default:
      return undefined
  }
}
