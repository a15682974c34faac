import type { Clock } from '../../base/clock.ts'
import type { Blobs, Doc, Store } from '../../core/talk/store.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Machine } from '../../machine/machine.ts'
import type { Audit } from '../../safety/audit.ts'
import type { Sandbox } from '../../safety/sandbox.ts'
import type { ToolSet } from '../../tools/all.ts'
import type { McpServers } from '../../tools/mcp/mcp-servers.ts'
import type { Skill, ToolParts } from '../../tools/tool-parts.ts'
import type { ProjectDoc } from '../project.ts'
import type { Settings } from '../../settings/settings.ts'
import type { NativeAgentSettings } from '../../settings/agent-settings.ts'

/** One agent's place in a turn. */
export type NativeSeat = { agent: NativeAgentSettings; settings: Settings; leash: Leash; window: number }

/** What every native agent of one run is made of. */
export type NativeParts = {
  home: string
  root: string
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  clock: Clock
  store: Store
  blobs: Blobs
  session: string
  mask(text: string): string
  /** Has a key masked that was found or put away. */
  learn?(name: string, key: string): void
  /** The project's own document: what was said "always" to. */
  project: Doc<ProjectDoc>
  /** Whether what is done is written down for an audit. */
  audited?: boolean
  /** What lasts as long as the run. */
  state: NativeState
}

export type Consult = NonNullable<ToolParts['consult']>

/** `use`: whom its subagent tool hands work to and what it can load from now on; a box outlives the turn that made it. */
export type Toolbox = { box: ToolSet; use(consult: Consult, skills: readonly Skill[]): void }

/** The tools of each agent, which remember what was read, the MCP servers of all, and the audit with what is being written. */
export type NativeState = {
  toolboxes: Map<string, Toolbox>
  servers?: Promise<McpServers | undefined>
  audit?: Audit
  lines: Promise<void>[]
  /** What is to be said to the person with the next event. */
  notes: string[]
  /** The session that our own agent works in, once hooks were told of it; `end` gives what went wrong with them. */
  session?: { id: string; compacted?: boolean; end(reason: string): Promise<string[]> }
  /** Each agent as it is held now: its tools outlive the turn that made them. */
  seats: Map<string, NativeSeat>
  sandbox?: Sandbox
  /** What is known of the machine, and what ends a scan of it. */
  machine?: { known: Machine; scan?: AbortController }
  /** What was said once, and is not said again. */
  told: Set<string>
  /** Whether a folder was trusted in a turn: the settings of the desk are older than that. */
  trustGiven?: boolean
}

export const newNativeState = (): NativeState => ({
  toolboxes: new Map(),
  lines: [],
  notes: [],
  seats: new Map(),
  told: new Set(),
})

/** The session is left: its hooks are told, and what went wrong with them is given back. */
export async function leaveSession({ state }: Pick<NativeParts, 'state'>, reason: string): Promise<string[]> {
  const { session } = state
  delete state.session
  return (await session?.end(reason)) ?? []
}

/** Said to the person with the next event, the first time. */
export function noteOnce({ state }: Pick<NativeParts, 'state'>, text: string): void {
  if (!state.told.has(text)) state.notes.push(text)
  state.told.add(text)
}

/** Ends what the tools and the servers left running. */
export async function closeNative({ state }: Pick<NativeParts, 'state'>): Promise<void> {
  const { toolboxes, servers, machine } = state
  delete state.servers
  delete state.machine
  machine?.scan?.abort()
  await Promise.all([
    ...[...toolboxes.values()].map(({ box }) => box.close()),
    servers?.then((all) => all?.close()),
    machine?.known.settled(),
  ])
  toolboxes.clear()
  await Promise.allSettled(state.lines)
}
