import type { Event } from '../talk/entry.ts'
import type { Failure } from '../talk/outcome.ts'
import type { Question } from '../talk/question.ts'
import type { Leash } from './agent.ts'
import type { Key, Screen } from '../screen/terminal.ts'
import type { Reader } from '../screen/reading.ts'

/** How a process ended, and what it said: `out` and `err` are its last words, bounded and without escape sequences. */
export type Ended = { out: string; err: string; code?: number; signal?: string; now: number }

/** What one line of a CLI's output means. */
export type Step =
  | Event
  /** The answer goes to its stdin. `id` is by what it may take the question back. */
  | { type: 'ask'; id?: string; question: Question; reply(picks?: string[]): string }
  | { type: 'unask'; id: string }
  /** Goes to its stdin at once. */
  | { type: 'send'; text: string }

/** A CLI's structured output, read as it comes. Stateful: one for each turn. */
export interface Dialect {
  /** Whether it may ask: then stdin stays open after the prompt, until a `line` gives the `end` or it is `over`. */
  asks?: boolean
  /** What goes to stdin for this prompt. */
  open(prompt: string): string
  /** Unknown lines mean nothing; a line that is not of its format throws. */
  line(line: string): Step[]
  /** Whether it has said its last word: a process that stays after it is ended, and the answer counts. */
  over?(): boolean
  /** Words for the turn at work, as they go to stdin; `id` is theirs alone. */
  steer?(text: string, id: string): string
  /** What tells it to stop and to leave its thread whole; undefined while there is nothing to stop. */
  stop?(): string | undefined
  /** The last steps, an `end` among them. */
  end(exit: Ended): Step[]
}

/** How a CLI speaks the Agent Client Protocol. */
export type AcpFacts = {
  /** The command that speaks it on stdin and stdout, for one of its `leashes`. */
  command(seat: { leash: Leash; model?: string }): string
  /** What each leash means over ACP, in words; a leash it cannot be held to is left out. */
  leashes: Partial<Record<Leash, string>>
  /** The session mode that each leash needs; left out where it asks by default. */
  modes?: Partial<Record<Leash, string>>
  /** Whether it must read files itself, because it does not get along with our answers. */
  readsItself?: true
  /** Whether its own "always" lasts no longer than its process, or fails: then it is kept for it. */
  forgets?: true
  /** The request by which it fetches what was typed meanwhile, and how it is answered. */
  steering?: { method: string; answer(texts: string[]): object }
  /** A piece of a message that is a remark of the CLI's own, and no part of an answer. */
  aside?: RegExp
  /** A piece of a message by which it says that it failed, where it gives no error for that; only what `failure` knows counts. */
  fault?: RegExp
  /** What an error that it answers with says. */
  failure(message: string, now: number): Failure | undefined
}

/** A dialog of a CLI's own, as a question, and the keys that answer it from where its pointer is, the last one taking it; no picks: what declines it. */
export type Dialog = { question: Question; keys(picks?: string[]): Key[] }

/** A CLI's own record of a session: where its text is whole, whatever its screen shows. */
export type Journal = {
  /** The folder below which its files are. */
  folder(place: { home: string; cwd: string; env: Readonly<Record<string, string | undefined>> }): string
  /** Whether a file of that folder, by its path below it, may be a session's. */
  file: RegExp
  /** Reads the lines of one file: `mark` is in the prompt of the turn that is meant, and everything after it belongs to it. */
  read(lines: readonly string[], mark: string): Journalled | undefined
}

/** What a journal says of a turn: undefined fields are not known yet. */
export type Journalled = {
  key?: string
  answer?: string
  /** What it says went wrong, in place of an answer. */
  fault?: string
  /** The same where it says of which kind that was: nothing is read from words then. */
  failure?: Failure
  over?: boolean
  usage?: { input: number; output: number; cached?: number; cost?: number }
}

/** How an MCP server is started: a program and its arguments. */
export type ServerStart = { command: string; args: readonly string[] }

/** An MCP server that a CLI is given for one run. */
export type LentServer = ServerStart & { name: string; env: Readonly<Record<string, string>> }

/** How a CLI's own settings file names an MCP server. */
export type McpFacts = {
  /** The settings file. */
  file(place: { home: string; env: Readonly<Record<string, string | undefined>> }): string
  format: 'json' | 'toml'
  /** The keys that lead to the table of servers. */
  path: readonly string[]
  /** The entry for a server that is started like this. */
  entry(start: ServerStart): object
  /** Fields of an entry that let the CLI call the server's tools without asking. */
  trusted?: Readonly<Record<string, unknown>>
}

/** How a CLI is run in a terminal, and how its screen is read. */
export type ScreenFacts = {
  /** The interactive command for one of its `leashes`; `thread` is the key a new session is to have, where `names` says it can. */
  command(seat: { leash: Leash; resume?: string; model?: string; thread?: string }): string
  leashes: Partial<Record<Leash, string>>
  /** Whether a new session can be given its key. */
  names?: true
  env?: Readonly<Record<string, string>>
  /**
   * The words behind its command that lend it a server for that run alone, whose tools it then calls without asking;
   * `text` is what they need in `file`. Left out where only its own settings can.
   */
  lends?(server: LentServer, file: string): { words: string; text?: string }
  reader: Reader
  dialog?(screen: Screen): Dialog | undefined
  /** What stands in its composer before the cursor, pasted text as its own mark for it: '' for nothing, undefined where there is no composer. */
  composer?(screen: Screen): string | undefined
  /** The keys that empty its composer; pressed where something stands in it alone. */
  clear?: readonly Key[]
  /** The keys that stop a turn at work. */
  interrupt: readonly Key[]
  /** The rows by which it says that a turn failed: the first group is what `failure` reads, wrapped as the screen has it. */
  fault?: RegExp
  journal?: Journal
  /** Its own session's key, as it prints it when it leaves. */
  farewell?: RegExp
  /** The keys that make it leave by itself. */
  quit: readonly Key[]
}

/** What one turn is spoken in: the seat its command was composed for, or else the `command` that a person wrote. */
export type DialectSeat = { leash?: Leash; resume?: string; model?: string; command?: string }

/** All that is known of one third-party CLI, as data. */
export interface Profile {
  name: string
  /** What people call it. */
  title: string
  vendor: string
  /** The first words of a command by which it is known. */
  words: readonly string[]
  window: number
  /** The headless command for one of its `leashes`; with `resume`, on its own thread of that key; `attended` where somebody can answer. */
  command(seat: { leash: Leash; resume?: string; model?: string; attended?: boolean }): string
  /** What each leash means for this CLI, in words; a leash it cannot be held to is left out. */
  leashes: Partial<Record<Leash, string>>
  /** Whether a command as a person wrote it speaks the dialect. */
  speaks(command: string): boolean
  dialect?(seat?: DialectSeat): Dialect
  /** Where it speaks ACP of its own: it can ask before it acts then, and is preferred to `command`. */
  acp?: AcpFacts
  /** Whether `command` can resume a thread. */
  resumes: boolean
  /** Variables that cut its own silent retries or switch off what would hang without a person. */
  env?: Readonly<Record<string, string>>
  /** What went wrong, read from its error channel; undefined when it is not known to this profile. */
  failure(ended: Ended): Failure | undefined
  /** A line of its error channel by which it was refused and goes on trying, longer than anyone waits: it is ended with this. */
  retrying?(line: string, now: number): Failure | undefined
  /** Whether it could not find the thread it was told to resume. */
  lostThread?(ended: Ended): boolean
  /** The commands a person types. */
  install: string
  login: string
  version: string
  /** Exits 0 when it is logged in; left out where nothing cheap tells. */
  loggedIn?: string
  /** Files below the home, or variables, of which one is there after a login. */
  traces: { files: readonly string[]; env: readonly string[] }
  /** What a repository may carry that starts programs or steers this CLI, below the project. */
  projectFiles: readonly string[]
  /** A command as a person wrote it that switches its own safety off; left out where it has no such flag. */
  unsafe?: RegExp
  /** How its settings take an MCP server; left out where that is not known. */
  mcp?: McpFacts
  /** Where it can be run in a terminal. */
  screen?: ScreenFacts
}
