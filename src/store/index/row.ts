import type { Entry, EntryOf } from '../../core/talk/entry.ts'

/** What is searched of an entry; another version's entries may lack anything. */
export function searchedText(entry: Entry): string | null {
  switch (entry.type) {
    case 'call':
      return typeof entry.input === 'string' ? entry.input : (JSON.stringify(entry.input) ?? null)
    case 'attempt':
      return lines(`${entry.failure?.kind}: ${entry.failure?.message}`, entry.did?.lastWords)
    case 'question':
      return lines(entry.question?.text)
    case 'end':
      // A good end says again what the reply said.
      return entry.outcome?.ok === false ? lines(entry.outcome.failure?.message) : null
    default:
      return 'text' in entry ? lines(entry.text) : null
  }
}

/** The columns that only calls and results have. */
export function toolColumns(entry: Entry): { call: string | null; tool: string | null; ok: number | null } {
  if (entry.type === 'call') return { call: String(entry.call), tool: String(entry.tool), ok: null }
  if (entry.type === 'result') return { call: String(entry.call), tool: null, ok: entry.ok ? 1 : 0 }
  return { call: null, tool: null, ok: null }
}

/** What a check said, before it is known how the turn ends. */
export function judged({ passed }: EntryOf<'verdict'>): 'passed' | 'failed' | 'unchecked' {
  return passed === undefined ? 'unchecked' : passed ? 'passed' : 'failed'
}

/** A cancelled turn says nothing about how it was thought. */
export function hasFailed({ outcome }: EntryOf<'end'>): boolean {
  return outcome?.ok === false && outcome.failure?.kind !== 'aborted'
}

function lines(...parts: unknown[]): string | null {
  const found = parts.filter((part): part is string => typeof part === 'string' && part !== '')
  return found.length === 0 ? null : found.join('\n')
}
