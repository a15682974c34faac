import type { Io } from '../../core/io.ts'
import type { Store } from '../../core/talk/store.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Place } from '../../home/place.ts'
import { isAlive, ownerMark } from '../../base/process/owner.ts'
import { SlotLedger } from '../slot-ledger.ts'
import { endLostWorkers } from '../workers/lost-workers.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { terminalsOf } from './crew-terminals.ts'
import { worktreeParts } from './crews.ts'

/** The coordinators that are working on this machine; the entry of one whose process died stays until its workers are stopped. */
type AtWork = Record<string, { project: string; workspace: string; owner: string }>

const atWork = (store: Pick<Store, 'doc'>) => store.doc<AtWork>('crew/coordinators', {})

/** Notes that a coordinator is working, before it has workers; returns a function that removes the note. */
export async function noteCoordinator(
  store: Pick<Store, 'doc'>,
  turn: string,
  at: { project: string; workspace: string },
): Promise<() => Promise<void>> {
  await atWork(store).update((now) => ({ ...now, [turn]: { ...at, owner: ownerMark() } }))
  return async () => {
    await atWork(store).update(({ [turn]: _, ...others }) => others)
  }
}

/**
 * Closes this project's worker slots whose coordinator's process has died. The watchdog has killed their programs by then; each slot
 * keeps the worker's results so far, so that no list shows it as running.
 */
export async function endWorkersOfDead(
  store: Store,
  { io, place, settings, slug }: { io: Io; place: Place; settings: Settings; slug: string },
): Promise<void> {
  const all = await atWork(store).read()
  const dead = Object.entries(all).filter(([, { project, owner }]) => project === slug && !isAlive(owner))
  if (dead.length === 0) return
  const terminals = terminalsOf(io, settings, { lends: false, bound: true })
  try {
    const { clock } = io
    const worktrees = worktreesOf(worktreeParts(io, place, settings, store, slug))
    const parts = { store, clock, owner: ownerMark(), alive: isAlive, find: terminals.find, worktrees }
    for (const [turn, { workspace }] of dead) {
      await endLostWorkers({ ...parts, workspace }, new SlotLedger(store, workspace, clock))
      await atWork(store).update(({ [turn]: _, ...others }) => others)
    }
  } finally {
    await terminals.close()
  }
}
