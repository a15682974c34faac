import type { Env } from '../base/env.ts'
import type { Clock } from '../base/time/clock.ts'
import type { Blobs, Doc, Store } from '../core/talk/store.ts'
import type { Leash, SeatLimits } from '../core/work/agent.ts'
import type { ModelMessage } from '../core/work/model.ts'
import type { Tool } from '../core/work/tool.ts'
import type { Machine } from '../machine/machine.ts'
import type { Border } from '../safety/border.ts'
import type { PlacedCall } from '../safety/rules/command-place.ts'
import type { Audit } from '../safety/audit-log.ts'
import type { Wall } from '../safety/wall/wall.ts'
import type { ToolSet } from './tools/all-tools.ts'
import type { McpServers } from './tools/mcp/remote-servers.ts'
import type { LanguageServers } from '../languages/language-servers.ts'
import type { Advise, Skill, ToolParts } from './tools/shared/tool-parts.ts'
import type { AddedFolders } from './added-folders.ts'
import type { ProjectDoc } from '../home/project.ts'
import type { LentServer } from '../core/profile/profile.ts'
import type { ContextItem } from './loop/context-changes.ts'
import type { ScratchRooms } from './native-scratch.ts'
import type { Settings } from '../settings/settings.ts'
import type { NativeAgentSettings } from '../settings/agent-settings.ts'

/** Our own agent in a turn: its settings, leash and window; `advises`: it is only asked for advice, and does not delegate. */
export type NativeSeat = {
  agent: NativeAgentSettings
  settings: Settings
  leash: Leash
  window: number
  advises?: boolean
  /** The limits of a worker that a coordinator sent. */
  limits?: SeatLimits
}

/** The parts that make our own agent the coordinator of the running turn. */
export type CoordinatorSeat = {
  tools: readonly Tool[]
  /** The state of the workers, only for the next request; `messages` are the other messages of that request. */
  digest(messages: readonly ModelMessage[]): Promise<string | undefined>
  /** Why the person does not get an answer yet. */
  holdsBack(): Promise<string | undefined>
}

/** Everything that the native agents of one run share. */
export type NativeParts = {
  home: string
  root: string
  cwd: string
  /** The folders that the person added to the project. */
  folders: AddedFolders
  env: Env
  clock: Clock
  store: Store
  blobs: Blobs
  session: string
  /** Decides which secrets a text keeps on its way to other programs. */
  border: Border
  /** The project's document, which stores the rules to which the person answered "always". */
  project: Doc<ProjectDoc>
  /** Whether the audit records the actions of the agents. */
  audited?: boolean
  /** State that the run keeps between turns. */
  state: NativeState
}

export type Consult = NonNullable<ToolParts['consult']>

/**
 * The tools of one agent, which outlive the turn that made them. `use` sets, for the next turn, the target of the subagent tool and the
 * skills that can be loaded.
 */
export type Toolbox = {
  box: ToolSet
  /** `listsSubagents`: whether the prompt of the session lists subagents. */
  use(consult: Consult, skills: readonly Skill[], listsSubagents: boolean): void
}

/**
 * How the acting agent asks for advice in the running turn: our own agent with `ask`, a CLI with an MCP server of ours. The server is
 * opened when the first CLI is started, and closed with the turn, or with the run if the run keeps the processes of its CLIs.
 */
export type TurnAdvice = {
  /** Missing if the server offers tools other than advice. */
  ask?: Advise
  /** The text about the tools that is added to the prompt of a CLI. */
  told?: string
  /** The folder with files that the CLI, and our program that it starts, must be able to read. */
  folder: string
  /** `lasting`: the server also serves the later turns of a process that was started with it. */
  lend(): Promise<{ server: LentServer; folder: string; lasting?: true } | undefined>
}

/** The MCP server with a turn's tools, which may outlive the turn. */
export interface LentTools {
  /** The names and schemas of its tools, as text. */
  shape: string
  folder: string
  /** Whether a CLI was given the server, but no CLI has started it. */
  isUnused: boolean
  /** Serves these tools until `rest`; between turns, a call is answered with an explanation. */
  serve(tools: readonly Tool[]): void
  rest(): void
  lend: TurnAdvice['lend']
  /** Closes the server, and removes its folder. */
  close(): Promise<void>
}

/** The tools of the agents, and the state that these tools share. */
type ToolState = {
  /** The tools of each agent, by its name; they remember which files were read. */
  toolboxes: Map<string, Toolbox>
  /** The present seat of each agent, by its name: its tools outlive the turn, and need the present settings. */
  seats: Map<string, NativeSeat>
  /** The temporary folders and networks that commands share, by the agent's name. */
  scratches: Map<string, ScratchRooms>
  /** The policy's decision on a call and the place of its command, by the call's input. */
  judged: WeakMap<object, PlacedCall>
  sandbox?: Wall
}

/** The MCP servers. */
type ServerState = {
  servers?: Promise<McpServers | undefined>
  /** The settings and the leash for the wall around the servers, and whether the folder's own servers are included. */
  seat?: { settings: Settings; leash: Leash; trusted: boolean }
  /** Called when the state or a list of a server has changed. */
  changed: Set<() => void>
}

/** The language servers that report errors after edits, from the first edit on, and the seat for the wall around them. */
type LanguageState = {
  seat: NativeSeat
  opened: Promise<LanguageServers> | undefined
  running: LanguageServers | undefined
}

/** The person's answers about the folder. */
type TrustState = {
  /** Whether the person said that they trust the folder: a folder without steering files is trusted without a question. */
  agreed?: boolean
  /** Whether the folder was trusted during a turn, after the desk had read its settings. */
  given?: boolean
}

/** The audit, and its lines that are still being written. */
type AuditState = { log?: Audit; lines: Promise<unknown>[] }

/** The notes for the person. */
type NoteState = {
  /** Notes to show with the next event. */
  waiting: string[]
  /** Notes that were shown and are not shown again. */
  shown: Set<string>
  /** Whether a question of this session has explained why there is no sandbox. */
  unwalled?: true
}

/** The session in the form that hooks and the model know. */
type SessionState = {
  /** The session whose start was reported to the hooks; `end` reports its end to them, and returns their errors. */
  begun?: { id: string; compacted?: boolean; end(reason: string): Promise<string[]> }
  /** Instruction files, skills and subagents as the last turn saw them, by their subject. */
  seen: Map<string, ContextItem>
  /** Set when the person has added a note to the instructions; the working agent then gets the note. */
  remembered?: true
}

/** The facts of the machine, and a controller that stops the scan in the background. */
type MachineState = { facts?: Machine; scan?: AbortController }

/** The requests that agents of the running turn can make to others. */
type TurnState = {
  /** Whether turns of this run may use thinking frameworks; if so, our own agents have the tool `think`. */
  thinks?: boolean
  /** How the acting agent asks for advice; undefined if it may not. */
  advice?: TurnAdvice
  /** Set if the run keeps the processes of its CLIs between turns: the server with their tools is then kept too. */
  kept?: { tools?: LentTools }
  /** Set while a coordinator's turn runs. */
  coordinator?: CoordinatorSeat
}

/** State that native agents keep between the turns of one run, divided by its users. */
type NativeState = {
  tools: ToolState
  mcp: ServerState
  languages?: LanguageState
  trust: TrustState
  audit: AuditState
  notes: NoteState
  session: SessionState
  machine: MachineState
  turn: TurnState
}

/** A value with these parts of the state, for a function that needs no other parts. */
export type WithState<Part extends keyof NativeState> = { state: Pick<NativeState, Part> }

/** The state of a new run; `tools` is the shared state of the tools that already exists. */
export const newNativeState = (tools: Partial<ToolState> = {}): NativeState => ({
  tools: { toolboxes: new Map(), seats: new Map(), scratches: new Map(), judged: new WeakMap(), ...tools },
  mcp: { changed: new Set() },
  trust: {},
  audit: { lines: [] },
  notes: { waiting: [], shown: new Set() },
  session: { seen: new Map() },
  machine: {},
  turn: {},
})

/** Tells the hooks that the session is over; returns their errors. */
export async function leaveSession({ state }: WithState<'session'>, reason: string): Promise<string[]> {
  const { begun } = state.session
  delete state.session.begun
  return (await begun?.end(reason)) ?? []
}

/** Shows a note with the next event, unless it was shown before. */
export function noteOnce({ state: { notes } }: WithState<'notes'>, text: string): void {
  if (!notes.shown.has(text)) notes.waiting.push(text)
  notes.shown.add(text)
}

/** Stops everything that the tools left running, the MCP servers and the language servers. */
export async function closeNative({
  state,
}: WithState<'tools' | 'mcp' | 'languages' | 'machine' | 'audit' | 'turn'>): Promise<void> {
  const { tools, mcp, languages, machine, audit, turn } = state
  const { servers } = mcp
  const { facts, scan } = machine
  delete mcp.servers
  delete state.languages
  delete machine.facts
  delete machine.scan
  const lent = turn.kept?.tools
  delete turn.kept?.tools
  scan?.abort()
  await Promise.all([
    ...[...tools.toolboxes.values()].map(({ box }) => box.close()),
    servers?.then((all) => all?.close()),
    languages?.opened?.then((all) => all.close()),
    facts?.settled(),
    lent?.close(),
  ])
  tools.toolboxes.clear()
  await Promise.all([...tools.scratches.values()].map((rooms) => rooms.close()))
  await Promise.allSettled(audit.lines)
}
