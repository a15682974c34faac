import type { Env } from '../../base/env.ts'
import type { Event } from '../talk/entry.ts'
import type { Failure } from '../talk/outcome.ts'
import type { Question } from '../talk/question.ts'
import type { Leash } from '../work/agent.ts'
import type { Effort } from './effort.ts'
import type { TermsChange, TurnTerms } from './turn-terms.ts'
import type { Belongings } from './belongings.ts'
import type { PastSessions } from './past-session.ts'
import type { Key, Screen } from '../screen/terminal.ts'
import type { Reader } from '../screen/reading.ts'

/**
 * The exit of a process, and the end of its output: `out` and `err` are bounded and without escape sequences. `lives`: only the turn is over,
 * and the process can take another one.
 */
export type Ended = { out: string; err: string; code?: number; signal?: string; now: number; lives?: true }

/** The meaning of a line of a CLI's output. */
export type Step =
  | Event
  /** A question; `reply` returns the text for the CLI's stdin. With `id` the CLI can withdraw the question. */
  | { type: 'ask'; id?: string; question: Question; reply(picks?: string[]): string }
  | { type: 'unask'; id: string }
  /** Text that is written to the CLI's stdin at once. */
  | { type: 'send'; text: string }

/** A picture for an agent: its media type, and its body as base64. */
export type SentPicture = { media: string; data: string }

/** The largest picture for an agent: in bytes, and in pixels on its longer side. */
export type PictureLimits = { bytes?: number; points?: number }

/**
 * Parses a CLI's structured output as it arrives. It has state: each turn needs a new one, which `next` returns for a further turn in the
 * same process.
 */
export interface Dialect {
  /** Whether the CLI may ask. Then stdin stays open after the prompt, until a line leads to the `end` or `over` returns true. */
  asks?: boolean
  /** Which pictures the CLI accepts with a prompt; missing if it accepts none. */
  pictures?: PictureLimits
  /**
   * Returns the text that goes to stdin of a process that waits for its first turn, so that its thread is open by then; `open` of the same
   * dialect sends the prompt later. The model is asked nothing. Left out if the prompt itself opens the thread.
   */
  greet?(): string
  /** Returns the text for stdin that sends a prompt; the pictures are in the order in which the prompt mentions them. */
  open(prompt: string, pictures?: readonly SentPicture[]): string
  /** Parses one line. An unknown line leads to no step; a line in another format throws. */
  line(line: string): Step[]
  /** Whether the answer is complete. If the process continues after that, it is stopped, and the answer counts. */
  over?(): boolean
  /** Whether something works on after the answer, such as a subagent: then the process takes no further turn. */
  works?(): boolean
  /** Returns the text for stdin that steers the turn; `id` is unique to the text. */
  steer?(text: string, id: string, pictures?: readonly SentPicture[]): string
  /** Returns the text for stdin that stops the turn without damage to the CLI's thread; undefined while there is nothing to stop. */
  stop?(): string | undefined
  /** Returns the last steps, including an `end`. */
  end(exit: Ended): Step[]
  /**
   * Returns the dialect of the next turn in the same process; `resume` is the key of its open thread, and the process has these terms by
   * then. Missing if the process ends with its turn.
   */
  next?(resume: string, terms: TurnTerms): Dialect
  /** Left out if only a new process can have another leash, model or effort. */
  change?: TermsChange
  /**
   * A request that the CLI answers at once and without acting: a process that waited for this turn answers it before it gets the prompt. Left
   * out if the CLI has no such request.
   */
  knock?: { text: string; isAnswer(line: string): boolean }
}

/** How to set a CLI's reasoning effort. */
type EffortFacts = {
  /** The levels that the CLI supports. */
  levels: readonly Effort[]
  /** Returns the arguments for a level, which are added after `command` and after the command in a terminal. */
  words(level: Effort): string
  /** Whether the arguments may follow the command for ACP too. Without it, only an option of the session can set the level. */
  acp?: true
}

/** How a person chooses the model of a CLI. */
export type ModelFacts = {
  /** Model names that the CLI takes, for a list to choose from; it takes others too. */
  names: readonly string[]
  /** The command of the CLI that lists its models; left out if it has none. */
  list?: string
}

/** How a CLI speaks the Agent Client Protocol. */
export type AcpFacts = {
  /** Returns the command that provides ACP on stdin and stdout, for one of the `leashes`. */
  command(seat: { leash: Leash; model?: string }): string
  /** Whether `command` takes no model: a request in the open session chooses it. */
  choosesInSession?: true
  /** The meaning of each leash over ACP, as text. Leaves out leashes that the CLI cannot enforce. */
  leashes: Partial<Record<Leash, string>>
  /** The ACP session mode for each leash; left out if the CLI asks by default. */
  modes?: Partial<Record<Leash, string>>
  /** Whether the CLI must read files itself, because it cannot handle termaite's answers. */
  readsItself?: true
  /** Whether the CLI's own "always" ends with its process or fails; termaite then remembers it. */
  forgets?: true
  /** Whether the CLI counts the tokens of all turns of its process together, and not those of the last turn alone. */
  countsTogether?: true
  /** Matches the title of a call to the tool of an MCP server; the first group is the name of the server. */
  serverTool?: RegExp
  /** The request with which the CLI fetches text typed during the turn, and the answer to it. */
  steering?: { method: string; answer(texts: string[]): object }
  /** Matches parts of a message that are remarks of the CLI and not part of the answer. */
  aside?: RegExp
  /** Matches the part of a message that reports a failure for which the CLI sends no error. It only counts if `failure` recognizes it. */
  fault?: RegExp
  /** Size limits for the pictures; the CLI itself says whether it takes any. */
  pictures?: PictureLimits
  /** Interprets the message of an error in the CLI's answer. */
  failure(message: string, now: number): Failure | undefined
}

/**
 * A dialog on a CLI's screen, as a question. `keys` returns the keys that pick an answer from the pointer's position; without picks, the
 * keys that decline.
 */
export type Dialog = { question: Question; keys(picks?: string[]): Key[] }

/** A line of a CLI's journal: every field may contain anything. */
export type JournalLine = Readonly<Record<string, unknown>>

/** A CLI's own record of a session, with one JSON object per line. It contains the whole text, whatever the screen shows. */
export type Journal = {
  /** Returns the folder with the CLI's sessions. */
  folder(place: CliPlace): string
  /** Matches the paths of session files, relative to that folder. */
  file: RegExp
  /** Whether a file contains the session of a key; missing if the file's path contains the key. */
  holds?(path: string, key: string): boolean
  /** Returns the text of a person's prompt; undefined for every other line. */
  prompt(line: JournalLine): string | undefined
  /** Parses a turn from the line of its prompt and all lines after it; `before` are the earlier lines of the session. */
  turn(lines: readonly JournalLine[], before: readonly JournalLine[]): Journalled
}

/** The facts about a turn in a journal. Undefined fields are not known yet. */
export type Journalled = {
  key?: string
  answer?: string
  /** The error message that replaces an answer. */
  fault?: string
  /** The failure, if the journal names its kind, so that no message has to be interpreted. */
  failure?: Failure
  over?: boolean
  /** `held`: the tokens in the context after the last request. */
  usage?: { input: number; output: number; cached?: number; cost?: number; held?: number }
}

/** How an MCP server is started: a program and its arguments. */
export type ServerStart = { command: string; args: readonly string[] }

/**
 * An MCP server that a CLI gets for one run. Started with `args`, it answers every call within a minute, because many CLIs abort longer
 * calls. `patient` is for a CLI that allows a call to take `ms` milliseconds: the server may then answer later.
 */
export type LentServer = ServerStart & {
  name: string
  env: Readonly<Record<string, string>>
  patient: { args: readonly string[]; ms: number }
  /** Whether the model must see the tools from its first request on, because some CLIs make it search for tools. */
  atOnce?: true
}

/** How a CLI's own settings file describes an MCP server. */
export type McpFacts = {
  /** The settings file. */
  file(place: { home: string; env: Env }): string
  format: 'json' | 'toml'
  /** The keys that lead to the table of servers. */
  path: readonly string[]
  /** The entry for a server with this start command. */
  entry(start: ServerStart): object
  /** Fields of an entry that let the CLI call the server's tools without asking. */
  trusted?: Readonly<Record<string, unknown>>
}

/** How a CLI runs in a terminal, and how to read its screen. */
export type ScreenFacts = {
  /** Returns the interactive command for one of the `leashes`. `thread` is the key for a new session, if `names` is set. */
  command(seat: { leash: Leash; resume?: string; model?: string; thread?: string }): string
  leashes: Partial<Record<Leash, string>>
  /** Whether a new session can be given its key. */
  names?: true
  env?: Readonly<Record<string, string>>
  /**
   * Returns the arguments that give the CLI an MCP server for one run, whose tools it then calls without asking. `text` is the content
   * that they need in `file`. Missing if only the CLI's settings can add a server.
   */
  lends?(server: LentServer, file: string): { words: string; text?: string }
  reader: Reader
  dialog?(screen: Screen): Dialog | undefined
  /**
   * Returns the text in the CLI's input before the cursor, with pasted text as the CLI abbreviates it; undefined if the screen shows no
   * input.
   */
  composer?(screen: Screen): string | undefined
  /** The keys that empty the input; only pressed if it contains text. */
  clear?: readonly Key[]
  /** The keys that stop a turn. */
  interrupt: readonly Key[]
  /** Matches the rows that report a failed turn. The first group is the text for `failure`, wrapped as on the screen. */
  fault?: RegExp
  journal?: Journal
  /** Matches the session key that the CLI prints when it quits. */
  farewell?: RegExp
  /** The keys that make the CLI quit. */
  quit: readonly Key[]
}

/** The place in which a CLI runs. */
export type CliPlace = { home: string; cwd: string; env: Env }

/**
 * The files of a CLI outside the project, for the wall around it. Inside the wall the CLI sees private copies of its folders, so it can
 * write anywhere in them; only the files listed here outlive the run.
 */
export type CliFiles = {
  /** The CLI's own folders: settings, extensions, logins and state. */
  folders: readonly string[]
  /** Folders inside those whose changes are kept: the sessions with which the CLI resumes a thread. */
  sessions: readonly string[]
  /** Folders inside those that start empty: locks, logs and other files that the CLI need not see. */
  fresh?: readonly string[]
  /** Places in the sessions that steer later runs, such as memories and downloaded programs: they are private like the other files. */
  steering?: readonly string[]
  /**
   * Files that are copied back after the run: a login that was renewed, a file that mixes state and settings. With
   * `keys`, only these keys of the JSON object in it.
   */
  returned?: readonly { path: string; keys?: readonly string[] }[]
}

/**
 * The project in which a CLI is about to be started. `trusted`: the person has trusted the project's own settings for the CLI as
 * they are now, or the project has no such settings. `file` keeps a text in a file of ours and returns its path.
 */
export type GuardedPlace = CliPlace & { root: string; trusted: boolean; file(name: string, text: string): string }

/**
 * How to start a CLI so that it ignores what it may not use; `refuses`: it cannot do that here. `words` are the arguments for that,
 * and `instructions` are the arguments that pass on the project's instructions, which it then ignores too.
 */
export type Guard = { words?: string; instructions?: string; env?: Readonly<Record<string, string>>; refuses?: true }

/** The seat that a dialect is made for: the one that the command was composed for, or the `command` that a person wrote. */
type DialectSeat = {
  leash?: Leash
  resume?: string
  model?: string
  effort?: Effort
  command?: string
  plans?: boolean
}

/** All knowledge of one third-party CLI, as data. */
export interface Profile {
  name: string
  /** The name that people use. */
  title: string
  vendor: string
  /** The first words of a command line that identify the CLI. */
  words: readonly string[]
  window: number
  /**
   * Returns the headless command for one of the `leashes`. `resume` is the key of the thread to continue; `attended`: a person can answer
   * questions; `plans`: the CLI starts in its `planMode`, if it has one.
   */
  command(seat: { leash: Leash; resume?: string; model?: string; attended?: boolean; plans?: boolean }): string
  /**
   * The plan mode of the CLI's own, within the leash `read`: the dialect yields the plan as the answer. `words` go with the prompt. Missing if
   * it has none: then it gets our words for planning.
   */
  planMode?: { words?: string }
  /** The meaning of each leash for this CLI, as text. Leaves out leashes that it cannot enforce. */
  leashes: Partial<Record<Leash, string>>
  /** Whether a command that a person wrote outputs this dialect. */
  speaks(command: string): boolean
  dialect?(seat?: DialectSeat): Dialect
  /** Like `screen.lends`, for `command`; left out if the arguments cannot follow the command. */
  lends?: ScreenFacts['lends']
  /** Returns the arguments that open further folders to the CLI, however it runs; missing if it has no such arguments. */
  reaches?(folders: readonly string[]): string
  /** How the CLI speaks ACP, if it does. Over ACP it can ask before it acts, so ACP is preferred to `command`. */
  acp?: AcpFacts
  /** How the CLI's model is chosen; left out if `command` takes no model. */
  models?: ModelFacts
  /** How to set the CLI's reasoning effort; missing if it has no option for it. */
  effort?: EffortFacts
  /** Whether the dialect reports the cost of each answer. */
  reportsCost?: true
  /** Whether `command` can resume a thread. */
  resumes: boolean
  /** Variables that shorten the CLI's silent retries, or disable features that would hang without a person. */
  env?: Readonly<Record<string, string>>
  /** Interprets a failure in the CLI's output; undefined if this profile does not recognize the message. */
  failure(ended: Ended): Failure | undefined
  /**
   * Recognizes a line of stderr which says that the CLI was refused and keeps retrying for too long: the CLI is stopped with this
   * failure.
   */
  retrying?(line: string, now: number): Failure | undefined
  /** Whether the CLI could not find the thread to resume. */
  lostThread?(ended: Ended): boolean
  /** The commands with which a person installs the CLI, logs in, and sees its version. */
  install: string
  login: string
  version: string
  /** A command that exits with 0 if the CLI is logged in; missing if there is no fast one. */
  loggedIn?: string
  /** Files in the home folder, or variables, at least one of which exists after a login. */
  traces: { files: readonly string[]; env: readonly string[] }
  /** Variables that may contain a key of this CLI: it gets these, and no other vendor's. */
  keys: readonly string[]
  /** Files of a project that start programs or steer this CLI. */
  projectFiles: readonly string[]
  /**
   * Returns how to start the CLI so that it ignores `projectFiles` that are not trusted, and so that a project's `.env` changes
   * none of its addresses and keys. Left out if the CLI cannot do that: it is then not started in a project with such files.
   */
  guard?(place: GuardedPlace): Guard | Promise<Guard>
  /** The instruction files of a project that the CLI reads, if AGENTS.md is not one of them. */
  instructionFiles?: readonly string[]
  /** The CLI's files outside the project, for a wall around it; without this, all its files are private behind a wall. */
  files?(place: CliPlace): CliFiles
  /** Matches a command that disables the CLI's own safety; missing if it has no such flag. */
  unsafe?: RegExp
  /** How the CLI's settings describe an MCP server; missing if that is unknown. */
  mcp?: McpFacts
  /** How the CLI runs in a terminal, if it can. */
  screen?: ScreenFacts
  /** The CLI's own records of earlier sessions; missing if they cannot be read. */
  past?: PastSessions
  /**
   * The things that a person can have set up for the CLI and that termaite can use too; missing if none of them can be read. Loaded on
   * demand.
   */
  belongings?(): Promise<Belongings>
}
