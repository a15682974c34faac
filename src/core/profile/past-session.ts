import type { Env } from '../../base/env.ts'

/** The home in which a CLI keeps its files, and the variables that may change their place. */
export type CliHome = { home: string; env: Env }

/** The tokens of one request, as a CLI recorded them. `input` includes all input tokens, both cached and written ones. */
export type PastUsage = {
  input: number
  output: number
  cached?: number
  written?: number
  /** The cost in dollars, if the CLI recorded it. */
  cost?: number
  model?: string
  /** Identifies the request: a CLI that copies a session into another file copies this name too. */
  request?: string
  /** Set if the CLI made the request outside the turn, for example for a memory, and does not count it among the turn's tokens. */
  beside?: true
}

/** One fact in a CLI's own record of a session. */
export type PastFact = { at?: number } &
  /** Facts about the session: the key by which the CLI resumes it, and the folder in which it ran. */
  (
    | { type: 'session'; key?: string; cwd?: string }
    | { type: 'prompt'; text: string }
    | { type: 'reply'; text: string }
    | { type: 'call'; call: string; tool: string; input: unknown }
    | { type: 'result'; call: string; ok: boolean; text: string }
    | ({ type: 'usage' } & PastUsage)
    /** The turn was stopped by the person, or failed with this message. */
    | { type: 'stop'; by: 'person' | 'failure'; message: string }
  )

/**
 * A part of a CLI's own session that belongs to a turn of ours. `key` is the key of the thread; `counted`: the CLI reported the tokens of
 * the turn.
 */
export type OurStretch = { key: string; cwd: string; from: number; to: number; counted: boolean }

/** Parses one session, record by record. It has state: each session needs a new one. */
export type PastReader = (record: Readonly<Record<string, unknown>>) => PastFact[]

/** The place of a CLI's sessions, and a parser for a whole session. */
export type PastSessions = {
  /** The provider whose prices apply to models without a provider in their name. */
  provider?: string
  /** The CLI's own key of a session, if the key of a thread contains more than that. */
  key?(thread: string): string
  /** The key of the thread that continues a session, if it must include the session's usage so far. */
  thread?(key: string, used: Pick<PastUsage, 'input' | 'output'> & { cached: number }): string
  /** Makes the parser of one session. `file` is the path of its file relative to the folder. */
  reader(file: string): PastReader
} & (
  | {
      /** The folder with the files of all sessions; each line of a file is a record. */
      folder(place: CliHome): string
      file: RegExp
      /** Matches the files of subagents: their tokens count, but their text belongs to no session of the person's. */
      inner?: RegExp
    }
  | {
      /** The SQLite database with all sessions. */
      database(place: CliHome): string
      /**
       * Returns each session's name as `session`, its `bytes`, the time of its last change as `changed`, and as `inner` whether
       * it is a subagent's.
       */
      sessions: string
      /** Returns the records of the session `:session` in order. */
      records: string
    }
)
