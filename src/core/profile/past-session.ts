import type { Env } from '../../base/env.ts'

/** The home in which a CLI keeps its files, and the variables that may move them. */
export type CliHome = { home: string; env: Env }

/** The tokens of one request, as a CLI recorded them. `input` holds all of them, the cached and the written ones too. */
export type PastUsage = {
  input: number
  output: number
  cached?: number
  written?: number
  /** The cost in dollars, if the CLI recorded it. */
  cost?: number
  model?: string
  /** Names the request: a CLI that copies a session into another file copies the name too. */
  request?: string
  /** The CLI made the request outside the turn, for example for a memory, and does not count it among the turn's tokens. */
  beside?: true
}

/** One thing that a CLI's own record of a session says. */
export type PastFact = { at?: number } &
  /** Facts about the session: the key by which the CLI resumes it, and the folder that it ran in. */
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

/** Reads one session as its records come. It has a state: each session needs a new one. */
export type PastReader = (record: Readonly<Record<string, unknown>>) => PastFact[]

/** The place of a CLI's sessions, and how one is read from its beginning to its end. */
export type PastSessions = {
  /** The provider whose prices apply to models that the CLI names without a provider. */
  provider?: string
  /** The CLI's own key of a session, if the key of a thread contains more than that. */
  key?(thread: string): string
  /** The key of the thread that continues a session, if it must contain what the session has used so far. */
  thread?(key: string, used: Pick<PastUsage, 'input' | 'output'> & { cached: number }): string
  /** Makes the reader of one session. `file` is the path of its file below the folder. */
  reader(file: string): PastReader
} & (
  | {
      /** The folder that holds the files of all sessions; each line of a file is a record. */
      folder(place: CliHome): string
      file: RegExp
      /** Matches the files of subagents: their tokens count, and their words belong to no session of the person's. */
      inner?: RegExp
    }
  | {
      /** The SQLite database that holds all sessions. */
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
