import type { Entry, Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Frame } from '../../core/work/model.ts'
import { readText } from '../../core/talk/store.ts'

/** What a session's requests begin with; `key` names what it was made for: another mode or model needs another. */
export type FrameSpec = { key: string; make(): Promise<Frame> }

type Frozen = { key: string; frame: Frame }

/** The frame of this session: the one that was frozen when it began, byte for byte, or a new one, frozen now. */
export async function* frozen(name: string, turn: Turn, blobs: Blobs, spec: FrameSpec): AsyncGenerator<Event, Frame> {
  const was = await lastFrozen(name, turn.history, blobs)
  if (was?.key === spec.key) return was.frame
  const frame = await spec.make()
  const body = JSON.stringify({ key: spec.key, frame } satisfies Frozen)
  yield { type: 'frame', ref: await blobs.put(body, 'application/json') }
  return frame
}

/** What a session's requests to an agent begin with now; undefined before its first. */
export async function keptFrame(name: string, entries: readonly Entry[], blobs: Blobs): Promise<Frame | undefined> {
  return (await lastFrozen(name, entries, blobs))?.frame
}

async function lastFrozen(name: string, entries: readonly Entry[], blobs: Blobs): Promise<Frozen | undefined> {
  const kept = entries.findLast((entry) => entry.type === 'frame' && entry.by === name)
  return kept?.type === 'frame' ? read(blobs, kept.ref) : undefined
}

/** A frame that is lost or broken is made anew: the cache is cold then, and nothing else is wrong. */
async function read(blobs: Blobs, ref: Parameters<typeof readText>[1]): Promise<Frozen | undefined> {
  try {
    return JSON.parse(await readText(blobs, ref)) as Frozen
  } catch {
    return undefined
  }
}
