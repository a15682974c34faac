import type { Entry, EntryOf, Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Frame } from '../../core/work/model.ts'
import type { ToldItem } from './context-changes.ts'
import { readText } from '../../core/talk/store.ts'

/** A frame and of what it told: what changes after that is said behind it. */
export type FrameAndTold = { frame: Frame; told: readonly ToldItem[] }

/** What a session's requests begin with; `key` names what it was made for: another mode or model needs another. */
export type FrameSpec = { key: string; make(): Promise<FrameAndTold> }

type Frozen = FrameAndTold & { key: string }

/** The frame of this session: the one that was frozen when it began, byte for byte, or a new one, frozen now. */
export async function* sessionFrame(
  name: string,
  turn: Turn,
  blobs: Blobs,
  spec: FrameSpec,
): AsyncGenerator<Event, FrameAndTold> {
  const was = await lastFrozen(name, turn.history, blobs)
  if (was?.key === spec.key) return was
  const made = await spec.make()
  const body = JSON.stringify({ key: spec.key, ...made } satisfies Frozen)
  yield { type: 'frame', ref: await blobs.put(body, 'application/json') }
  return made
}

/** What a session's requests to an agent begin with now; undefined before its first. */
export async function keptFrame(name: string, entries: readonly Entry[], blobs: Blobs): Promise<Frame | undefined> {
  return (await lastFrozen(name, entries, blobs))?.frame
}

async function lastFrozen(name: string, entries: readonly Entry[], blobs: Blobs): Promise<Frozen | undefined> {
  const isOwn = (entry: Entry): entry is EntryOf<'frame'> => entry.type === 'frame' && entry.by === name
  const kept = entries.findLast(isOwn)
  return kept && read(blobs, kept.ref)
}

/** A frame that is lost or broken is made anew: the cache is cold then, and nothing else is wrong. */
async function read(blobs: Blobs, ref: Parameters<typeof readText>[1]): Promise<Frozen | undefined> {
  try {
    const found = JSON.parse(await readText(blobs, ref)) as Frozen
    return Array.isArray(found.told) ? found : undefined
  } catch {
    return undefined
  }
}
