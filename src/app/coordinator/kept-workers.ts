import type { EarlierWork } from '../../core/talk/command.ts'
import type { Entry } from '../../core/talk/entry.ts'
import type { WorkerSlot } from '../../crew/slot.ts'
import type { Envelope } from '../../crew/worker.ts'
import type { AppRecords } from '../../turn/app.ts'
import { defined } from '../../base/defined.ts'
import { workersOf } from '../../home/worker-crews.ts'
import { blobsOf, logOf, SlotLedger } from '../../crew/slot-ledger.ts'
import { allOf, isGone } from '../../crew/slot.ts'
import { endingOf } from '../../crew/workers/board.ts'
import { handoffText } from '../../crew/workers/final-answer.ts'
import { endedEnvelope, readEnvelope } from '../../crew/worker-turn.ts'
import { workerRole } from '../../crew/worker.ts'

/** The newest finished workers of the conversation, oldest first, with the work and the handoff of each. */
export async function keptWorkers(app: AppRecords, most: number): Promise<EarlierWork[]> {
  const { store, io } = app
  const slots = allOf(await new SlotLedger(store, workersOf(app), io.clock).read())
  const over = slots.filter((slot): slot is WorkerSlot => slot.worker !== undefined && isGone(slot)).slice(-most)
  return Promise.all(over.map((slot) => keptWorker(app, slot)))
}

async function keptWorker(app: AppRecords, slot: WorkerSlot): Promise<EarlierWork> {
  const entries = async () => {
    const all: Entry[] = []
    for await (const { item } of logOf(app.store, workersOf(app), slot.id).read()) if (item) all.push(item)
    return all
  }
  const [envelope, did] = await Promise.all([envelopeOf(app, slot), entries().catch(() => [])])
  const [first, last] = [did[0]?.at, did.at(-1)?.at]
  const used = did.reduce((sum, entry) => (entry.type === 'usage' ? sum + entry.input + entry.output : sum), 0)
  return defined({
    turn: slot.worker.turn,
    role: workerRole(slot),
    by: slot.agent,
    status: envelope.status,
    since: first ?? slot.since,
    ms: first === undefined || last === undefined ? undefined : last - first,
    tokens: used > 0 ? used : undefined,
    text: handoffWords(envelope),
    entries,
  })
}

/** The handoff without the name of the worker, which is already in its row. In Markdown an empty line ends a list. */
function handoffWords(envelope: Envelope): string {
  const [, ...rest] = handoffText(envelope).split('\n')
  return `${envelope.what_was_done}\n\n${rest.join('\n')}`.replaceAll(/(\n- [^\n]*)\n(?!- )/g, '$1\n\n')
}

/** The envelope of a worker. If it can no longer be read, one is made from the end of the slot. */
async function envelopeOf(app: AppRecords, slot: WorkerSlot): Promise<Envelope> {
  const { envelope } = slot.worker
  const made = endedEnvelope(slot, { ok: false, failure: endingOf(slot) })
  if (!envelope) return made
  return readEnvelope(blobsOf(app.store, workersOf(app)), envelope).catch(() => made)
}
