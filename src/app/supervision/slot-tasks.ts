import type { TaskSource, WorkOrder } from '../../core/work/task-source.ts'
import type { OpenCrew } from '../crew/crews.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { FoundHub } from './hub-discovery.ts'
import { CrewError } from '../../crew/slot.ts'
import { isSettled } from '../../crew/slot.ts'
import { openCrews } from '../crew/crews.ts'
import { ensureKeeper } from '../crew/crew-keeper.ts'
import { HubClient } from '../hub/hub-client.ts'
import { say, UsageError } from '../../core/io.ts'
import { readSettings } from '../../settings/settings.ts'
import { plainWorkspace, worktreeWorkspace } from '../../worktrees/task-branches.ts'
import { hubTaskSource } from '../../hub/hub-task-source.ts'

export type SlotWishes = { slot: number; hub: FoundHub; capabilities: readonly string[] }

/** How often the hub is told that a task is still worked at. */
const progressMs = 600_000

/** An agent of the crew takes tasks from the hub, one after the other, as long as this runs; it goes on without us. */
export async function slotAtWork(io: Io, place: Place, { slot: id, hub, capabilities }: SlotWishes): Promise<number> {
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const tell = (words: string) => say(io, `termaite: ${words}`)
  const crews = openCrews(io, place, settings, { carries: false, warn: tell })
  try {
    const open = crews.of()
    const { agent, worktree } = await open.crew.slot(id)
    const known = { id: `${agent}-slot-${id}`, role: 'crew', name: `slot ${id}`, source: 'CLI' as const }
    const as = { ...known, capabilities: [agent, ...capabilities], workspace: place.root }
    // Who sits in the project itself has no branch to give for review.
    const { worktrees } = open.parts
    const workspace = worktree && worktrees ? worktreeWorkspace(io, place.root, worktree, worktrees) : plainWorkspace
    const taskSource = hubTaskSource({ hub: new HubClient(hub.place), as, clock: io.clock, workspace, tell })
    say(io, `slot ${id} takes tasks of ${hub.place.url} as ${as.id}; Ctrl+C ends that, and not the agent.`)
    while (!io.signal.aborted) {
      const order = await taskSource.next(io.signal)
      if (order.type === 'evict') {
        say(io, `slot ${id} was sent away by the hub: ${order.why}`)
        return 0
      }
      if (order.type === 'told') await sent(io, place, open, id, order.text)
      if (order.type === 'task') await done(io, place, open, id, order, taskSource)
    }
    return 0
  } catch (error) {
    throw error instanceof CrewError ? new UsageError(error.message, 1) : error
  } finally {
    await crews.close()
  }
}

async function sent(io: Io, place: Place, open: OpenCrew, id: number, text: string): Promise<void> {
  await open.crew.send(id, text)
  await ensureKeeper(io, place, open)
}

async function done(
  io: Io,
  place: Place,
  open: OpenCrew,
  id: number,
  { ticket, prompt, notes }: WorkOrder & { type: 'task' },
  taskSource: TaskSource,
): Promise<void> {
  const { signal, clock } = io
  if ((await taskSource.ack(ticket, signal)) !== 'kept') return
  const said = notes.map(({ kind, by, text }) => `${kind} (${by}): ${text}`)
  await sent(io, place, open, id, [prompt, ...said].join('\n\n'))
  for (;;) {
    // A question is the person's to answer, and its agent goes on then.
    const wishes = {
      until: clock.now() + progressMs,
      signal,
      settled: (slot: Parameters<typeof isSettled>[0]) => isSettled(slot) && slot.state !== 'asking',
    }
    const [waited] = await open.crew.wait([id], wishes)
    if (signal.aborted) return
    if (!waited?.settled && (await taskSource.progress(ticket, 'at work', signal)) === 'kept') continue
    const answer = waited?.slot?.state === 'idle' ? await open.crew.artifact(id) : undefined
    const why = waited?.slot?.why || `its agent is ${waited?.slot?.state ?? 'gone'}`
    const report = answer
      ? { status: 'COMPLETED' as const, message: answer.output }
      : { status: 'FAILED' as const, message: why }
    if (waited?.settled) await taskSource.respond(ticket, report, signal)
    return say(io, `slot ${id}: ${ticket.split('.')[0]!.slice(-8)} ${waited?.settled ? report.status : 'is lost'}`)
  }
}
