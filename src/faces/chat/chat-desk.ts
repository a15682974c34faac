import type { WorkMode, Leash } from '../../core/work/agent.ts'
import type { Command, CommandScreen } from '../../core/talk/command.ts'
import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Framework, Thinking } from '../../core/talk/framework.ts'

/** An agent as the status line shows it; `left` is the part of its window that is free, from 1 to 0. */
export type AgentStanding = {
  name: string
  state: 'ready' | 'parked' | 'busy' | 'cooling down' | 'out'
  until?: number
  why?: string
  left?: number
}

/** How things stand at the desk: all that the border and the status line say. */
export type Standing = {
  project: string
  session?: string
  mode: WorkMode
  leash: Leash
  strategy: string
  /** How the next turn is thought through. */
  thinking?: Thinking
  agents: AgentStanding[]
  /** Who takes the next turn; undefined when that is not known before. */
  next?: string
  /** Of this session; `source` is the weakest of what it was summed from. */
  tokens: { used: number; cost?: number; source: 'reported' | 'parsed' | 'estimated' }
  /** A prompt that waits for an agent's quota and is sent by itself. */
  waiting?: { agent: string; until: number }
}

/** What the closing line of a turn says; `why` is why that agent was chosen. */
export type Closing = {
  turn: string
  by?: string
  why?: string
  ms: number
  /** How it was thought through, where it did not go straight to an agent, and how many were asked besides. */
  thought?: { framework: Framework; calls: number }
  changed?: { files: number; added: number; removed: number }
  tokens?: number
  source?: 'reported' | 'parsed' | 'estimated'
}

/** What the desk tells whoever sits at it. */
export type DeskEvent =
  /** Of a turn of this process, or of another one that is followed. Questions and answers of commands come so as well, with the turn ''. */
  | { type: 'event'; turn: string; event: Event }
  | { type: 'closing'; closing: Closing }
  | { type: 'standing'; standing: Standing }
  /** What was typed and not yet given to anybody, oldest first. */
  | { type: 'queue'; texts: string[] }
  /** Somebody cancelled what is at work; its end may take a moment. */
  | { type: 'stopping' }
  /** What a command says; not kept. */
  | { type: 'said'; text: string; how: 'note' | 'text' | 'error' }
  /** Another conversation is shown from here on: what was on the screen goes, these are its newest entries. */
  | { type: 'opened'; entries: Entry[]; more: boolean }

/**
 * What a person at the chat can see and do. The full screen and the plain lines both sit at one;
 * it runs the turns, and knows nothing of either.
 */
export interface ChatDesk {
  standing(): Standing
  /** What happens from now on; the first ones say how things are: `opened`, then `standing`. */
  events(signal: AbortSignal): AsyncIterable<DeskEvent>
  /** Entries of the session before that one, oldest first. */
  earlier(before: string, most: number): Promise<{ entries: Entry[]; more: boolean }>
  /** A prompt, or a line that begins with a slash. While a turn runs it steers, or waits its turn. */
  submit(text: string): void
  /** The newest text that still waits, out of the queue. */
  takeBack(): string | undefined
  /** Cancels the turn or the command at work; false when nothing is. */
  cancel(): boolean
  answer(ask: string, picks?: string[]): void
  setLeash(leash: Leash): void
  readonly commands: readonly Command[]
  /** Paths below the working folder that match what was typed after an @, best first. */
  files(typed: string, most: number, signal: AbortSignal): Promise<string[]>
  /** What was sent in this project before, newest last. */
  sentPrompts(): Promise<string[]>
  /** Gives the desk the screen it is seen on, for commands. */
  setScreen(screen: CommandScreen): void
}
