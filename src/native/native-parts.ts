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
import type { ToolSet } from './tools/all.ts'
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

/** Our own agent in a turn: its settings, leash and window; `advises`: it is only asked for advice, and hands no work on. */
export type NativeSeat = {
  agent: NativeAgentSettings
  settings: Settings
  leash: Leash
  window: number
  advises?: boolean
  /** The limits of a worker that a coordinator sent. */
  limits?: SeatLimits
}

/** The parts that make our own agent the coordinator of the turn that runs. */
export type CoordinatorSeat = {
  tools: readonly Tool[]
  /** The state of the workers, for the next request alone; `messages` are the others of that request. */
  digest(messages: readonly ModelMessage[]): Promise<string | undefined>
  /** Why an answer is held back from the person for now. */
  holdsBack(): Promise<string | undefined>
}

/** Everything that the native agents of one run share. */
export type NativeParts = {
  home: string
  root: string
  cwd: string
  /** The folders that the person added to the project. */
  folders: AddedFolders
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  store: Store
  blobs: Blobs
  session: string
  /** Decides which secrets a text keeps on its way out. */
  border: Border
  /** The project's document, which keeps the rules that the person said "always" to. */
  project: Doc<ProjectDoc>
  /** Whether the audit records what the agents do. */
  audited?: boolean
  /** State that the run keeps between turns. */
  state: NativeState
}

export type Consult = NonNullable<ToolParts['consult']>

/**
 * The tools of one agent, which outlive the turn that made them. `use` sets, for the next turn, to whom the subagent tool hands
 * work and which skills can be loaded.
 */
export type Toolbox = {
  box: ToolSet
  /** `listsSubagents`: whether the prompt of the session lists subagents. */
  use(consult: Consult, skills: readonly Skill[], listsSubagents: boolean): void
}

/**
 * How the acting agent asks for advice in the running turn: our own agent by `ask`, a CLI by an MCP server of ours that closes with
 * the turn. The server is opened when the first CLI is started.
 */
export type TurnAdvice = {
  /** Missing if the server offers other tools than advice. */
  ask?: Advise
  /** The text about the tools that is added to the prompt of a CLI. */
  told?: string
  /** The folder with the files that the CLI, and our program that it starts, must be able to read. */
  folder: string
  lend(): Promise<{ server: LentServer; folder: string } | undefined>
}

/** State that native agents keep between the turns of one run. */
type NativeState = {
  /** The tools of each agent, by its name; they remember which files were read. */
  toolboxes: Map<string, Toolbox>
  servers?: Promise<McpServers | undefined>
  /** The settings and the leash of the wall around the MCP servers, and whether the folder's own servers are among them. */
  serverSeat?: { settings: Settings; leash: Leash; trusted: boolean }
  /** Called when the state or a list of an MCP server has changed. */
  serversChanged: Set<() => void>
  /** The language servers that report errors after edits, from the first edit on, and the seat of the wall around them. */
  languages?: { seat: NativeSeat; opened: Promise<LanguageServers> | undefined; running: LanguageServers | undefined }
  /** Whether the person said that they trust the folder: a folder with nothing that steers agents is trusted without a question. */
  agreed?: boolean
  audit?: Audit
  /** How the policy judged a call and where its command runs, by the call's input. */
  judged: WeakMap<object, PlacedCall>
  /** Audit lines that are still being written. */
  lines: Promise<unknown>[]
  /** Notes to show to the person with the next event. */
  notes: string[]
  /** The session whose start was reported to the hooks; `end` reports its end to them, and returns their faults. */
  session?: { id: string; compacted?: boolean; end(reason: string): Promise<string[]> }
  /** The current seat of each agent, by its name: its tools outlive the turn, and need the current settings. */
  seats: Map<string, NativeSeat>
  sandbox?: Wall
  /** The temporary folders and networks that commands share, by the agent's name. */
  scratches: Map<string, ScratchRooms>
  /** The known facts of the machine. */
  machine?: Machine
  /** Stops the scan of the machine that runs in the background. */
  scan?: AbortController
  /** Whether turns of this run may use thinking frameworks, so that our own agents are offered the tool `think`. */
  thinks?: boolean
  /** How the acting agent asks for advice in the running turn; undefined if it may not. */
  advice?: TurnAdvice
  /** Set while a coordinator's turn runs. */
  coordinator?: CoordinatorSeat
  /** Instruction files, skills and subagents as the last turn saw them, by their subject. */
  seen: Map<string, ContextItem>
  /** Set when the person has added a note to the instructions, which the working agent then gets. */
  remembered?: true
  /** Whether a question of this session has explained why there is no sandbox. */
  toldUnwalled?: true
  /** Notes that were shown once and are not shown again. */
  told: Set<string>
  /** Whether the folder was trusted during a turn, after the desk had read its settings. */
  trustGiven?: boolean
}

export const newNativeState = (): NativeState => ({
  toolboxes: new Map(),
  lines: [],
  notes: [],
  seats: new Map(),
  scratches: new Map(),
  serversChanged: new Set(),
  judged: new WeakMap(),
  told: new Set(),
  seen: new Map(),
})

/** Tells the hooks that the session is over; returns their faults. */
export async function leaveSession({ state }: Pick<NativeParts, 'state'>, reason: string): Promise<string[]> {
  const { session } = state
  delete state.session
  return (await session?.end(reason)) ?? []
}

/** Shows a note with the next event, unless it was shown before. */
export function noteOnce({ state }: Pick<NativeParts, 'state'>, text: string): void {
  if (!state.told.has(text)) state.notes.push(text)
  state.told.add(text)
}

/** Stops everything that the tools left running, the MCP servers and the language servers. */
export async function closeNative({ state }: Pick<NativeParts, 'state'>): Promise<void> {
  const { toolboxes, servers, languages, machine, scan } = state
  delete state.servers
  delete state.languages
  delete state.machine
  delete state.scan
  scan?.abort()
  await Promise.all([
    ...[...toolboxes.values()].map(({ box }) => box.close()),
    servers?.then((all) => all?.close()),
    languages?.opened?.then((all) => all.close()),
    machine?.settled(),
  ])
  toolboxes.clear()
  await Promise.all([...state.scratches.values()].map((rooms) => rooms.close()))
  await Promise.allSettled(state.lines)
}
