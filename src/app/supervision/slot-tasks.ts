import type { TaskSource, WorkOrder } from '../../core/work/task-source.ts'
import type { OpenCrew } from '../crew/crews.ts'
import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { FoundHub } from './hub-discovery.ts'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { CrewError } from '../../crew/slot.ts'
import { isSettled } from '../../crew/slot.ts'
import { openCrews } from '../crew/crews.ts'
import { ensureKeeper } from '../crew/crew-keeper.ts'
import { HubRefused } from '../../hub/remote-hub.ts'
import { slotNameAtHub } from './supervised-session.ts'
import { AgentKey } from '../hub/agent-key.ts'
import { keysAt } from '../hub/own-workspaces.ts'
import { hubProtocol } from '../../core/work/hub-protocol.ts'
import { version } from '../version.ts'
import { HubClient } from '../hub/hub-client.ts'
import { machineNameOf } from '../link/machine-identity.ts'
import { borderOf } from '../border.ts'
import { taskChecks, vouching } from './task-checks.ts'
import { say, UsageError } from '../../core/io.ts'
import { carrierFor } from './work-carrier.ts'
import { taskFilesIn } from './task-files.ts'
import { readSettings } from '../../settings/settings.ts'
import { plainWorkspace, worktreeWorkspace } from '../../worktrees/task-branches.ts'
import { HubTaskSource } from '../../hub/hub-task-source.ts'

type SlotOptions = { slot: number; hub: FoundHub; capabilities: readonly string[]; push: boolean }

/** How often the hub is told that a task is still at work. */
const progressMs = 600_000

/** Gives tasks of the hub to an agent of the crew, one after another, until this process is ended. The agent itself stays. */
export async function workOnHubTasks(
  io: Io,
  place: Place,
  { slot: id, hub, capabilities, push }: SlotOptions,
): Promise<number> {
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const tell = (words: string) => say(io, `termaite: ${words}`)
  let hubKey: AgentKey | undefined
  const crews = openCrews(io, place, settings, { carries: false, warn: tell })
  try {
    const open = crews.of()
    const { agent, worktree } = await open.crew.slot(id)
    const ownName = slotNameAtHub(agent, id, place.root)
    const name = hub.caller?.role === 'agent' ? hub.caller.name : ownName
    hubKey = new AgentKey({ place: hub.now, name, file: undefined, clock: io.clock })
    const known = {
      id: name,
      role: 'crew',
      name: `slot ${id}`,
      source: 'CLI' as const,
      machine: machineNameOf(settings.link.name),
    }
    const at = { ...(await keysAt(io, place.root, hub.place.url)), version, protocol: hubProtocol }
    const as = { ...known, capabilities: [agent, ...capabilities], ...at }
    // An agent that works in the project itself has no branch to give for review.
    const { worktrees } = open.parts
    const workspace = worktree && worktrees ? worktreeWorkspace(io, place.root, worktree, worktrees) : plainWorkspace
    const taskSource = new HubTaskSource({
      hub: new HubClient({ url: () => hub.now().url, key: hubKey, env: io.env }),
      as,
      clock: io.clock,
      workspace,
      machine: hostname(),
      checks: taskChecks(io, place, settings, settings.leash),
      vouch: vouching(io, hub, borderOf(io.env, place.home).toward('hub')),
      files: taskFilesIn(worktree?.path ?? place.root),
      carrier: carrierFor(io, hub, join(place.home, 'bundles', name), { push: push || settings.hub.push === true }),
      tell,
    })
    say(io, `slot ${id} takes tasks from ${hub.place.url} as ${as.id}. Ctrl+C stops that; the agent stays.`)
    while (!io.signal.aborted) {
      const order = await taskSource.next(io.signal)
      if (order.type === 'evict') {
        say(io, `The hub removed slot ${id}: ${order.why}`)
        return 0
      }
      if (order.type === 'told') await send(io, place, open, id, order.text)
      if (order.type === 'task') await work(io, place, open, id, order, taskSource)
    }
    return 0
  } catch (error) {
    throw error instanceof CrewError || error instanceof HubRefused ? new UsageError(error.message, 1) : error
  } finally {
    await hubKey?.end()
    await crews.close()
  }
}

async function send(io: Io, place: Place, open: OpenCrew, id: number, text: string): Promise<void> {
  await open.crew.send(id, text)
  await ensureKeeper(io, place, open)
}

async function work(
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
  await send(io, place, open, id, [prompt, ...said].join('\n\n'))
  for (;;) {
    // An agent that asks goes on when the person has answered, so asking does not end the wait.
    const options = {
      until: clock.elapsed() + progressMs,
      signal,
      settled: (slot: Parameters<typeof isSettled>[0]) => isSettled(slot) && slot.state !== 'asking',
    }
    const [waited] = await open.crew.wait([id], options)
    if (signal.aborted) return
    if (!waited?.settled && (await taskSource.progress(ticket, 'at work', signal)) === 'kept') continue
    const answer = waited?.slot?.state === 'idle' ? await open.crew.artifact(id) : undefined
    const why = waited?.slot?.why || `its agent is ${waited?.slot?.state ?? 'gone'}`
    const report = answer
      ? { status: 'COMPLETED' as const, message: answer.output }
      : { status: 'FAILED' as const, message: why }
    if (waited?.settled) await taskSource.respond(ticket, report, signal)
    return say(
      io,
      `slot ${id}: ${ticket.split('.')[0]!.slice(-8)} ${waited?.settled ? report.status : 'was cancelled or given to another agent'}`,
    )
  }
}
