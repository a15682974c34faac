import type { Leash } from '../../core/work/agent.ts'

/** What each leash means for a CLI that asks before it acts, and is answered by the leash or by a person. */
export const acpLeashes: Record<Leash, string> = {
  read: 'reads and searches; whatever it asks for is refused',
  ask: 'asks before it acts, and waits for your answer',
  edit: 'edits files in the project; asks before anything else',
  all: 'whatever it asks for is allowed',
}
