import type { Leash } from '../work/agent.ts'
import type { Effort } from './effort.ts'

/** The parts of a turn that can differ from those of the next turn in the same process. `effort` is a level that the CLI supports. */
export type TurnTerms = { leash: Leash; model?: string; effort?: Effort }

/** How a CLI changes the terms of a process that waits for its next turn. */
export type TermsChange = {
  /** The leashes that a process can change into one another. Each other leash is held by how a process is started. */
  leashes: readonly Leash[]
  /** Begins the change, before the process gets the prompt. Undefined if only a new process can have these terms. */
  begin(from: TurnTerms, to: TurnTerms): TermsRequest | undefined
}

/** `text` goes to stdin, and `hear` reads each line that follows; with '' no request is needed. */
export type TermsRequest = { text: string; hear(line: string): TermsAnswer | undefined }

/** The CLI must be sent more, has accepted all terms, or has refused one. */
export type TermsAnswer = { send: string } | 'accepted' | 'refused'
