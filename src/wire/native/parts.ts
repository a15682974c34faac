import type { Clock } from '../../base/clock.ts'
import type { Blobs, Doc, Store } from '../../core/talk/store.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { ToolSet } from '../../tools/all.ts'
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
  /** The tools of each agent, as long as the run lasts: they remember what was read. */
  boxes: Map<string, ToolSet>
}

/** Ends what the tools left running. */
export async function closeNative({ boxes }: Pick<NativeParts, 'boxes'>): Promise<void> {
  await Promise.all([...boxes.values()].map((box) => box.close()))
  boxes.clear()
}
