import type { Leash } from '../../core/work/agent.ts'

/** The meaning of each leash for a CLI that asks before it acts; the leash or a person answers. */
export const acpLeashes: Record<Leash, string> = {
  read: 'reads and searches; everything it asks for is refused',
  ask: 'asks before it acts, and waits for your answer',
  edit: 'edits files in the project; asks before anything else',
  all: 'everything it asks for is allowed',
}
