import type { WorkMode, Leash } from '../../core/work/agent.ts'
import type { CommandList, CommandScreen, SaidHow } from '../../core/talk/command.ts'
import type { BudgetAmounts, Entry, Event } from '../../core/talk/entry.ts'
import type { ChosenKeys } from '../../core/screen/chat-keys.ts'
import type { ThemeName } from '../../core/talk/themes.ts'
import type { Framework, Thinking } from '../../core/talk/framework.ts'

/** An agent as the status line shows it; `left` is the free part of its context window, from 1 to 0. */
export type AgentStanding = {
  name: string
  state: 'ready' | 'parked' | 'busy' | 'cooling down' | 'out'
  until?: number
  why?: string
  left?: number
}

/** The states of an agent as a person reads them. */
export const stateNames: Record<AgentStanding['state'], string> = {
  ready: 'ready',
  parked: 'out of quota',
  busy: 'busy',
  'cooling down': 'cooling down',
  out: 'unavailable',
}

/** Everything that the title and the status line show, and in which colours. */
export type Standing = {
  project: string
  /** The folder that the agents work in. */
  folder?: string
  session?: string
  mode: WorkMode
  /** The leash of the agent of the next turn. */
  leash: Leash
  /** Whether that agent is a command that the person wrote; then only the command's own flags limit it. */
  ownFlags?: true
  strategy: string
  /** The framework of the next turn, or how one is chosen. */
  thinking?: Thinking
  agents: AgentStanding[]
  /** The agent of the next turn; undefined if it is chosen only when the turn starts. */
  next?: string
  /** Whether the person chose that agent for all turns. */
  stays?: boolean
  /** The usage of this session; `source` is the least exact of its parts. */
  tokens: { used: number; cost?: number; source: 'reported' | 'parsed' | 'estimated' }
  /** The amounts that the running turn of a coordinator and all its workers have used and may use. */
  budget?: { used: BudgetAmounts; allowed: Partial<BudgetAmounts> }
  /** A prompt that waits for an agent's quota and is then sent by itself. */
  waiting?: { agent: string; until: number }
  /** The goal or loop that goes on by itself: `goal: turn 3 of 10`. */
  progress?: string
  /** Whether the input has the keys of vim. */
  vim?: true
  /** The keys that the person chose. */
  keys?: ChosenKeys
  /** The colours that the person chose; without it those of the terminal. */
  theme?: ThemeName
}

/** How many files a turn changed, and how many lines in them. */
export type ChangedFiles = { files: number; added: number; removed: number }

/** The closing line of a turn; `why` says why that agent was chosen. */
export type Closing = {
  turn: string
  by?: string
  why?: string
  ms: number
  /** The framework, if the turn used one, and how many other agents were called. */
  thought?: { framework: Framework; calls: number }
  changed?: ChangedFiles
  tokens?: number
  source?: 'reported' | 'parsed' | 'estimated'
}

/**
 * A resource of an MCP server that can be named after an @, as `server:uri`. `open`: the part of a template up to the variable
 * that the person types.
 */
export type NamedResource = { mention: string; help?: string; open?: string }

/** One message from a desk to its screen. */
export type DeskEvent =
  /** An event of a turn of this process, or of another process that is followed. Questions and answers of commands have the turn ''. */
  | { type: 'event'; turn: string; event: Event; sent?: string }
  /**
   * The person sent this prompt just now, before anything is kept. With `starts` a turn of this desk, or a command of the
   * person, begins with the prompt, and the kept prompt carries the same `sent` and takes its place. Without a text the
   * prompt went elsewhere or was given back.
   */
  | { type: 'sent'; sent: string; text?: string; starts?: 'turn' | 'command' }
  | { type: 'closing'; closing: Closing }
  | { type: 'standing'; standing: Standing }
  /** The slash commands, or the resources that can be named after an @, have changed. */
  | { type: 'commands' }
  /** The prompts that no agent has yet, oldest first. */
  | { type: 'queue'; texts: string[] }
  /** The running turn was cancelled; its end may take a moment. */
  | { type: 'stopping' }
  /** A running slash command says what it does at the moment; without words it is over. */
  | { type: 'progress'; of: string; words?: string }
  /** Output of a command, which is not kept. */
  | { type: 'said'; text: string; how: SaidHow }
  /** Another conversation takes the screen; these are its newest entries. */
  | { type: 'opened'; entries: Entry[]; more: boolean }

/** The result of a paste: the mentions of its pictures for the prompt, and messages about anything that could not be used. */
export type PastedPictures = { texts: string[]; problems: string[] }

/** The events of a desk. `takeAll` takes the unread ones, so that a screen can show them in the same frame as a key. */
export type DeskEvents = AsyncIterable<DeskEvent> & { takeAll(): DeskEvent[] }

/** Everything that a person puts into a prompt besides the words that they type. */
export interface PromptSources {
  /** Finds paths below the working folder that match what was typed after an @, best first. */
  files(typed: string, most: number, signal: AbortSignal): Promise<string[]>
  /** Finds the resources of MCP servers that can be named after an @, as far as they are known at once. */
  resources(typed: string, signal: AbortSignal): Promise<NamedResource[]>
  /** Keeps a picture that was pasted; undefined when the bytes are not a picture that models can see. */
  keepPicture(bytes: Uint8Array, name: string): Promise<PastedPictures | undefined>
  /** Keeps the pictures that pasted paths name, in the first of the `readings` that fits; undefined if the paths name no pictures. */
  keepPastedPaths(readings: readonly (readonly string[])[]): Promise<PastedPictures | undefined>
  /** The prompts that were sent in this project before, newest last. */
  sentPrompts(): Promise<string[]>
}

/**
 * Everything that a person at the chat can see and do. The full screen, the plain lines and an editor each show one; a desk runs the turns
 * and knows nothing of its screen.
 */
export interface ChatDesk {
  standing(): Standing
  /** The agent that would take a prompt that is not sent yet, if that depends on the prompt. */
  nextFor?(typed: string): string | undefined
  /** Yields all events from now on; the first two are `opened` and `standing`. */
  events(signal: AbortSignal): DeskEvents
  /** Reads the entries of the session before an id, oldest first. */
  earlier(before: string, most: number): Promise<{ entries: Entry[]; more: boolean }>
  /** Counts the changes of earlier turns of this project, one turn after the other; turns without changes are left out. */
  changesOf?(turns: readonly string[]): AsyncIterable<{ turn: string; changed: ChangedFiles }>
  /** Gets the text of the input whenever it changes, so that the next turn can be prepared. */
  typed?(text: string): void
  /** Takes a prompt or a slash command. While a turn runs, a prompt steers it or is queued. */
  submit(text: string): void
  /** Runs a command in the person's own shell, and keeps its output in the conversation. */
  runShell(command: string): void
  /** Takes the newest prompt out of the queue. */
  takeBack(): string | undefined
  /** Cancels the turn or the command that runs; false when none does. */
  cancel(): boolean
  /** How long the command that somebody waits for has been running, in ms; undefined if no running command could go to the background. */
  commandRunsFor(): number | undefined
  /** Sends that command to the background; false when none runs. */
  moveToBackground(): boolean
  answer(ask: string, picks?: string[]): void
  setLeash(leash: Leash): void
  readonly commands: CommandList
  readonly sources: PromptSources
  /** Gives commands the screen that the desk is shown on. */
  setScreen(screen: CommandScreen): void
}
