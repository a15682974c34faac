import type { Clock } from '../../base/clock.ts'
import type { Blobs, Doc, Store } from '../../core/talk/store.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Audit } from '../../safety/audit/audit.ts'
import type { ToolSet } from '../../tools/all.ts'
import type { Servers } from '../../tools/mcp/servers.ts'
import type { ToolParts } from '../../tools/parts.ts'
import type { ProjectDoc } from '../project.ts'
import type { AgentSettings, Settings } from '../settings/settings.ts'

/** One agent's place in a turn. */
export type NativeSeat = { agent: AgentSettings; settings: Settings; leash: Leash; window: number }

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
  /** The project's own document: what was said "always" to. */
  project: Doc<ProjectDoc>
  /** Whether what is done is written down for an audit. */
  audited?: boolean
  /** What lasts as long as the run. */
  lasting: Lasting
}

export type Consult = NonNullable<ToolParts['consult']>

/** `handTo`: whom its subagent tool hands work to from now on; a box outlives the turn that made it. */
export type Box = { box: ToolSet; handTo(consult: Consult): void }

/** The tools of each agent, which remember what was read, the MCP servers of all, and the audit with what is being written. */
export type Lasting = {
  boxes: Map<string, Box>
  servers?: Promise<Servers | undefined>
  audit?: Audit
  lines: Promise<void>[]
  /** What is to be said to the person with the next event. */
  notes: string[]
}

export const nothingYet = (): Lasting => ({ boxes: new Map(), lines: [], notes: [] })

/** Ends what the tools and the servers left running. */
export async function closeNative({ lasting }: Pick<NativeParts, 'lasting'>): Promise<void> {
  const { boxes, servers } = lasting
  delete lasting.servers
  await Promise.all([...[...boxes.values()].map(({ box }) => box.close()), servers?.then((all) => all?.close())])
  boxes.clear()
  await Promise.allSettled(lasting.lines)
}
