import type { Entry, EntryOf, Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Frame } from '../../core/work/model.ts'
import type { ToldItem } from './context-changes.ts'
import { defined } from '../../base/defined.ts'
import { readText } from '../../core/talk/store.ts'

/** A frame, and the items of context in it: later changes to them are added as messages. */
export type FrameAndTold = { frame: Frame; told: readonly ToldItem[] }

/** How a session's frame is made; `key` identifies the mode and the model, and a different key needs a different frame. */
type FrameSpec = { key: string; vendor?: string; make(): Promise<FrameAndTold> }

type Frozen = FrameAndTold & { key: string }

/** The frame of this session: the one that was frozen when the session began, byte for byte, or a new one. */
export async function* sessionFrame(
  name: string,
  turn: Turn,
  blobs: Blobs,
  spec: FrameSpec,
): AsyncGenerator<Event, FrameAndTold> {
  const was = await lastFrozen(name, turn.history, blobs)
  if (was?.key === spec.key) return was
  const made = await spec.make()
  yield* freezeFrame(made, blobs, spec)
  return made
}

/** Stores a frame as the frame of the session from now on. */
export async function* freezeFrame(
  framed: FrameAndTold,
  blobs: Blobs,
  { key, vendor }: Pick<FrameSpec, 'key' | 'vendor'>,
): AsyncGenerator<Event, void> {
  const body = JSON.stringify({ key, ...framed } satisfies Frozen)
  yield defined({ type: 'frame', ref: await blobs.put(body, 'application/json'), vendor })
}

/** The present frame of an agent's requests; undefined before its first request. */
export async function keptFrame(name: string, entries: readonly Entry[], blobs: Blobs): Promise<Frame | undefined> {
  return (await lastFrozen(name, entries, blobs))?.frame
}

async function lastFrozen(name: string, entries: readonly Entry[], blobs: Blobs): Promise<Frozen | undefined> {
  const isOwn = (entry: Entry): entry is EntryOf<'frame'> => entry.type === 'frame' && entry.by === name
  const kept = entries.findLast(isOwn)
  return kept && readFrozen(blobs, kept.ref)
}

/** Reads a frozen frame; a lost or damaged one is made again, which only costs the provider's cache. */
async function readFrozen(blobs: Blobs, ref: Parameters<typeof readText>[1]): Promise<Frozen | undefined> {
  try {
    const found = JSON.parse(await readText(blobs, ref)) as Frozen
    return Array.isArray(found.told) ? found : undefined
  } catch {
    return undefined
  }
}
