import type { Entry } from '../../src/core/talk/entry.ts'
import type { Agent, Roster } from '../../src/core/work/agent.ts'
import type { TurnWorld } from '../../src/core/work/conversation.ts'
import { HandClock } from '../hand-clock.ts'
import { Conversation } from '../../src/core/work/conversation.ts'
import { memoryStore } from '../../src/store/memory-store.ts'

/** One project in memory, with a clock that is turned by hand. */
export function project(part: { alive?(owner: string): boolean } = {}) {
  const store = memoryStore()
  const clock = new HandClock(0)
  const log = store.log<Entry>('projects/p/history')
  const open = (owner = 'me') =>
    new Conversation({
      log,
      blobs: store.blobs('projects/p/output'),
      session: 's',
      clock,
      owner,
      alive: part.alive ?? (() => true),
    })
  return { store, clock, log, open, conversation: open(), kept: () => keptIn(log) }
}

/** The log, oldest first, without what differs from run to run; `usage` is left to its own tests. */
export async function keptIn(log: { back(): AsyncIterable<{ item?: Entry }> }) {
  const entries: Entry[] = []
  for await (const { item } of log.back()) if (item && item.type !== 'usage') entries.unshift(item)
  return entries.map(({ id: _id, at: _at, session: _session, turn: _turn, ...fact }) => fact)
}

export const here = (part: Partial<TurnWorld> = {}): TurnWorld => ({
  cwd: '/project',
  leash: 'edit',
  signal: new AbortController().signal,
  ...part,
})

export const rosterOf = (agents: Record<string, () => Agent>): Roster => ({
  names: () => Object.keys(agents),
  open: (name) => agents[name]!(),
})
