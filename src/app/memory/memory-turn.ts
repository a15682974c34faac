import type { Event } from '../../core/talk/entry.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { App, AppPlace, AppRecords } from '../../turn/app.ts'
import type { TurnRequest } from '../turn.ts'
import type { MemoryFile, MemoryOwner } from './memory-file.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { runOpened } from '../turn.ts'
import { openTurnSnapshots } from '../../turn/turn-snapshots.ts'
import { memoryFile, withNote, writeMemory } from './memory-file.ts'

/** A note that the person has agreed to: the file as it was shown, and the note. */
export type AgreedNote = { owner: MemoryOwner; shown: MemoryFile; note: string }

/** Thrown if the file is not the one that the person saw: then nothing is written. */
export class ChangedMeanwhile extends Error {}

/** Adds a note to the file that the person saw. */
export function addNote(app: Pick<App, 'place' | 'io'>, { owner, shown, note }: AgreedNote): void {
  const now = memoryFile(owner, app.place)
  if (now.path !== shown.path || now.text !== shown.text)
    throw new ChangedMeanwhile(`${shown.name} has changed meanwhile`)
  writeMemory(now, withNote(now, note), app.io.clock.now())
}

/** How a person takes a note back. */
export function undoWords({ owner, shown }: AgreedNote): string {
  return owner === 'project' ? '/undo takes it back, and so does git.' : `To take it back, edit ${shown.path}.`
}

/**
 * Makes the turn that adds a note. termaite itself carries out this turn for the person: the turn is stored, the agents of later turns
 * see it, and it can be undone like any other.
 */
export const runMemory =
  (agreed: AgreedNote) =>
  (
    app: AppRecords,
    { signal, peers, prompt }: Pick<TurnRequest, 'signal' | 'peers' | 'prompt'>,
  ): AsyncGenerator<Event> =>
    runOpened(app, { prompt, peers }, async () => ({
      agent: memoryAgent(app, agreed),
      world: { cwd: app.place.cwd, leash: 'read', signal, around: openTurnSnapshots(app, prompt) },
    }))

function memoryAgent(app: AppPlace, agreed: AgreedNote): Agent {
  return {
    name: 'termaite',
    traits: { window: Infinity, memory: 'none', talks: false, steers: false },
    async *turn() {
      try {
        addNote(app, agreed)
        const text = `Added to ${agreed.shown.name}. ${undoWords(agreed)}`
        yield { type: 'reply', text }
        yield { type: 'end', outcome: { ok: true, text } }
      } catch (error) {
        yield { type: 'end', outcome: failed('crash', `Nothing was written: ${messageOf(error)}. Type it again.`) }
      }
    },
    async close() {},
  }
}
