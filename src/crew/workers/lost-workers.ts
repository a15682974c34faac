import type { Entry } from '../../core/talk/entry.ts'
import type { Outcome } from '../../core/talk/outcome.ts'
import type { CrewParts } from '../crew-parts.ts'
import type { SlotLedger } from '../slot-ledger.ts'
import type { LivingSlot, Slot, WorkerSlot } from '../slot.ts'
import type { Worker } from '../worker.ts'
import { defined } from '../../base/defined.ts'
import { failed } from '../../core/talk/outcome.ts'
import { Conversation } from '../../core/work/conversation.ts'
import { outcomeOf } from '../interrupted-turn.ts'
import { endSlot } from '../slot-ending.ts'
import { blobsOf, logOf, shownOf } from '../slot-ledger.ts'
import { allOf, isGone } from '../slot.ts'
import { callWords } from '../handoff.ts'
import { endedEnvelope, keepEnvelope } from '../worker-turn.ts'

type LostParts = Pick<CrewParts, 'store' | 'workspace' | 'clock' | 'owner' | 'alive' | 'find' | 'worktrees'>

/** Whether the process that ran a slot is dead, or has released the slot. */
const isLeft = ({ owner }: Slot, alive: CrewParts['alive']) => owner === undefined || !alive(owner)

/**
 * Ends the workers of a process that has died, because workers end with their coordinator. Each of them then has an envelope, with its
 * answer if it had given one, and otherwise with its results so far.
 */
export async function endLostWorkers(parts: LostParts, ledger: SlotLedger): Promise<void> {
  for (const { id } of allOf(await ledger.read()).filter((slot) => isLost(slot, parts.alive))) {
    let claimed = false
    const slot = await ledger.edit(id, (now) => {
      claimed = isLost(now, parts.alive)
      return claimed ? { ...now, owner: parts.owner } : undefined
    })
    if (!claimed || !slot?.worker || isGone(slot)) continue
    const { outcome, words, calls } = await workOf(parts, slot)
    const envelope =
      slot.worker.envelope ??
      (await keepEnvelope(
        blobsOf(parts.store, parts.workspace),
        endedEnvelope({ ...slot, worker: slot.worker }, outcome, words, calls),
      ))
    await ledger.edit(id, (now) => now.worker && { ...now, worker: { ...now.worker, envelope } })
    const end = outcome.ok
      ? ({ state: 'exited', why: 'done' } as const)
      : ({ state: 'failed', why: lostWords } as const)
    // Only a worker that was shown in a terminal can still have one.
    const find: LostParts['find'] = slot.worker.where === 'terminal' ? parts.find : async () => undefined
    await endSlot({ ...parts, find }, ledger, id, end)
  }
}

const isLost = (slot: Slot, alive: CrewParts['alive']) => !!slot.worker && !isGone(slot) && isLeft(slot, alive)

const lostWords = 'termaite stopped while it worked'

/** The stored part of a lost worker's turn: its outcome, the worker's last text, and its calls. */
async function workOf(
  { store, workspace, clock, owner, alive }: LostParts,
  slot: LivingSlot,
): Promise<{ outcome: Outcome; words: string; calls: string[] }> {
  const conversation = new Conversation({
    log: logOf(store, workspace, slot.id),
    blobs: blobsOf(store, workspace),
    session: slot.session,
    clock,
    owner,
    alive,
    shown: (turn) => shownOf(store, workspace, turn),
  })
  const own = (entries: readonly Entry[]) => entries.filter(({ turn }) => turn === slot.flight?.turn)
  // The outcome is read before the turn is settled, because settling adds an end to the turn.
  const over = slot.flight && outcomeOf(slot.flight.turn, own((await conversation.read()).entries))
  await conversation.settle()
  const entries = own((await conversation.read()).entries)
  const said = entries.findLast(
    (entry) => (entry.type === 'reply' || entry.type === 'words') && entry.text.trim() !== '',
  )
  return {
    outcome: over ?? failed('crash', slot.flight ? lostWords : 'termaite stopped before it began'),
    words: said && 'text' in said ? said.text : '',
    calls: entries.flatMap((entry) => (entry.type === 'call' ? [callWords(entry.tool, entry.input)] : [])),
  }
}

/**
 * Gives a turn the workers of an earlier turn that did not finish because its process died: the coordinator learns about them, and has to account for them. `read` says whether the coordinator got a worker's handoff before.
 */
export async function adoptWorkers(
  ledger: SlotLedger,
  { turn, owner, alive, read }: { turn: string; read(id: number): boolean } & Pick<CrewParts, 'owner' | 'alive'>,
): Promise<void> {
  await ledger.change((now) => {
    const orphans = allOf(now).filter(
      (slot): slot is WorkerSlot =>
        slot.worker !== undefined &&
        slot.worker.turn !== turn &&
        !slot.worker.closed &&
        (slot.owner === owner || isLeft(slot, alive)),
    )
    if (orphans.length === 0) return now
    const adopted = orphans.map((slot) => {
      const worker = defined({
        ...slot.worker,
        turn,
        lost: true as const,
        heard: read(slot.id) ? (true as const) : undefined,
      })
      return [slot.id, { ...slot, owner, worker }]
    })
    return { ...now, slots: { ...now.slots, ...Object.fromEntries(adopted) } }
  })
}

/**
 * Records that a turn finished, so that no later turn has to account for its workers. After a `cancelled` turn the next one still learns
 * about unread handoffs; after an answer none is left to read.
 */
export async function closeWorkers(
  ledger: SlotLedger,
  turn: string,
  how: NonNullable<Worker['closed']>,
): Promise<void> {
  await ledger.change((now) => {
    const open = allOf(now).filter(
      ({ worker }) =>
        worker && (worker.turn === turn ? !worker.closed : how === 'answered' && worker.closed === 'cancelled'),
    )
    if (open.length === 0) return now
    const closed = open.map((slot) => [slot.id, { ...slot, worker: { ...slot.worker, closed: how } }])
    return { ...now, slots: { ...now.slots, ...Object.fromEntries(closed) } }
  })
}

/** Whether the conversation contains the handoff of a worker. */
export function holdsHandoff(history: readonly Entry[], worker: string): boolean {
  return history.some((entry) => {
    if (entry.type !== 'result' || !entry.ok) return false
    const { handoffs } = (entry.data ?? {}) as { handoffs?: { worker?: string }[] }
    return handoffs?.some((one) => one.worker === worker) ?? entry.text.includes(`Handoff of ${worker},`)
  })
}
