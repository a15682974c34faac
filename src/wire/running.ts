import type { Entry, EntryOf } from '../core/talk/entry.ts'
import type { Store } from '../core/talk/store.ts'
import { isAlive, ownerPid } from '../base/owner.ts'
import { isEntry } from '../core/talk/entry.ts'
import { knownProjects } from './projects.ts'

/** A turn that a living process of this machine runs now. */
export type RunningTurn = { turn: string; pid: number; since: number; project: string; prompt: string }

/** A turn under way is near the end of its log: no more than this is read of each. */
const mostLines = 5_000

export async function runningTurns(home: string, store: Store): Promise<RunningTurn[]> {
  const found = await Promise.all(
    knownProjects(home).map(async ({ slug, path }) =>
      (await unended(store, slug)).map((prompt) => describe(prompt, path)),
    ),
  )
  return found.flat().sort((a, b) => a.since - b.since)
}

function describe(prompt: EntryOf<'prompt'>, project: string): RunningTurn {
  return { turn: prompt.turn, pid: ownerPid(prompt.owner!), since: prompt.at, project, prompt: prompt.text }
}

async function unended(store: Store, slug: string): Promise<EntryOf<'prompt'>[]> {
  const ended = new Set<string>()
  const found: EntryOf<'prompt'>[] = []
  let lines = 0
  for await (const { item } of store.log<Entry>(`projects/${slug}/history`).back()) {
    if (++lines > mostLines) break
    if (!isEntry(item)) continue
    if (item.type === 'end') ended.add(item.turn)
    if (item.type === 'prompt' && !ended.has(item.turn) && item.owner && isAlive(item.owner)) found.push(item)
  }
  return found
}
