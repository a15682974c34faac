import type { TaskReport, TaskSource, WorkOrder } from '../../hub/model/tasks/task-source.ts'
import type { OpenCrew } from '../../crew/machine/crews.ts'
import type { Io } from '../../core/io.ts'
import type { Slot } from '../../crew/slot.ts'
import type { Place } from '../../home/place.ts'
import type { FoundHub } from './hub-discovery.ts'
import { join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { newId } from '../../base/id.ts'
import { plainPrompt } from '../../core/talk/plain-prompt.ts'
import { projectRoot } from '../../base/files/git.ts'
import { HeldLock } from '../../store/files/held-lock.ts'
import { runningProcesses } from '../../border/running-processes.ts'
import { artifactText } from '../../crew/artifact.ts'
import { CrewError, isSettled } from '../../crew/slot.ts'
import { openCrews } from '../../crew/machine/crews.ts'
import { ensureKeeper } from '../../crew/machine/crew-keeper.ts'
import { HubRefused } from '../../hub/engine/remote-hub.ts'
import { slotNameAtHub } from '../../crew/machine/supervised-session.ts'
import { AgentKey } from '../../hub/server/agent-key.ts'
import { keysAt } from '../../hub/server/merge/own-workspaces.ts'
import { hubProtocol } from '../../hub/model/hub-protocol.ts'
import { version } from '../../base/version.ts'
import { HubClient } from '../../hub/client/hub-client.ts'
import { machineNameOf } from '../../hub/client/machine-identity.ts'
import { borderOf } from '../../border/border.ts'
import { taskChecks, vouching } from './task-checks.ts'
import { say, UsageError } from '../../core/io.ts'
import { carrierFor } from './work-carrier.ts'
import { taskFilesIn } from './task-files.ts'
import { leashOf } from '../../settings/enabled-agents.ts'
import { readSettings } from '../../settings/settings.ts'
import { plainWorkspace, worktreeWorkspace } from '../../worktrees/task-branches.ts'
import { HubTaskSource } from '../../hub/engine/hub-task-source.ts'

type SlotOptions = {
  slot: number
  hub: FoundHub
  capabilities: readonly string[]
  push: boolean
  /** The name of this machine at the hub, if the person chose one for this run. */
  machineName?: string
}

/** The task that a slot works on, stored before its prompt is sent: a process that gets the task again continues that turn. */
type TaskAtWork = {
  task: string
  /** The id of each prompt, and how many notes of the task the agent has got with it and the earlier ones. */
  sends: { id: string; notes: number }[]
}

/** How often the hub gets a report that a task is still at work. */
const progressMs = 600_000

/** Gives tasks of the hub to an agent of the crew, one after another, until this process is stopped. The agent itself stays. */
export async function workOnHubTasks(
  io: Io,
  place: Place,
  { slot: id, hub, capabilities, push, machineName }: SlotOptions,
): Promise<number> {
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  const tell = (words: string) => say(io, `termaite: ${words}`)
  const lock = takeSlot(io, place, id)
  let hubKey: AgentKey | undefined
  const crews = openCrews(io, place, settings, { carries: false, warn: tell })
  try {
    const open = crews.of()
    const slot = await open.crew.slot(id)
    const { agent, worktree } = slot
    const own = settings.agents.find((one) => one.name === agent)
    const ownName = slotNameAtHub(agent, id, place.root)
    const name = hub.caller?.role === 'agent' ? hub.caller.name : ownName
    hubKey = new AgentKey({ place: hub.now, name, file: undefined, clock: io.clock })
    const known = {
      id: name,
      role: 'crew',
      name: `slot ${id}`,
      source: 'CLI' as const,
      machine: machineNameOf(machineName ?? settings.link.name),
    }
    const at = { ...(await keysAt(io, place.root, hub.place.url)), version, protocol: hubProtocol }
    const as = { ...known, capabilities: [agent, ...capabilities], ...at }
    // An agent that works in the project itself has no branch to review.
    const { worktrees } = open.parts
    const workspace = worktree && worktrees ? worktreeWorkspace(io, place.root, worktree, worktrees) : plainWorkspace
    const taskSource = new HubTaskSource({
      hub: new HubClient({ url: () => hub.now().url, key: hubKey, env: io.env }),
      as,
      clock: io.clock,
      workspace,
      machine: known.machine,
      checks: taskChecks(io, place, settings, leashOf(settings, own, slot)),
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
      if (order.type === 'refused') throw new UsageError(order.why, 1)
      if (order.type === 'told') await send(io, place, open, id, order.text)
      if (order.type === 'task') await work(io, place, open, id, order, taskSource)
    }
    return 0
  } catch (error) {
    throw error instanceof CrewError || error instanceof HubRefused ? new UsageError(error.message, 1) : error
  } finally {
    await hubKey?.end()
    await crews.close()
    lock.release()
  }
}

/**
 * Takes the right to give tasks to a slot, which only one process may have: two of them would revoke each other's key at the hub, and
 * each would send the prompt of the same task.
 */
function takeSlot({ clock }: Io, { home, root }: Place, id: number): HeldLock {
  const lock = new HeldLock(join(home, 'run', `slot-${id}-${shortHash(root)}.lock`))
  if (lock.take()) return lock
  const holder = runningProcesses(home, clock.now()).find(
    ({ process: kind, about, project, pid }) =>
      kind === 'agent' &&
      about === `slot ${id}` &&
      pid !== process.pid &&
      project !== undefined &&
      projectRoot(project) === root,
  )
  const who = holder?.pid === undefined ? '' : ` (process ${holder.pid})`
  const mend = holder?.pid === undefined ? '' : ` Stop it with: termaite stop ${holder.pid}`
  throw new UsageError(`slot ${id} already takes tasks${who}.${mend}`, 1)
}

/** Without an id the text is sent again, whatever was sent before. */
async function send(io: Io, place: Place, open: OpenCrew, id: number, text: string, once?: string): Promise<void> {
  await open.crew.send(id, text, once)
  await ensureKeeper(io, place, open)
}

/**
 * Sends a task to the slot and returns the id of its last turn. If the hub gives out the task again because this process was stopped
 * before the answer, the prompt is not repeated: only notes that people have added meanwhile are sent.
 */
async function sendTask(
  io: Io,
  place: Place,
  open: OpenCrew,
  id: number,
  { ticket, prompt, notes }: WorkOrder & { type: 'task' },
): Promise<string> {
  const task = ticketTask(ticket)
  const before = (await tasksAtWork(open).read())[id]
  const sends = before?.task === task ? [...before.sends] : []
  const told = sends.at(-1)?.notes
  if (told === undefined || told < notes.length) sends.push({ id: newId(io.clock.now()), notes: notes.length })
  await tasksAtWork(open).update((now) => ({ ...now, [id]: { task, sends } }))
  const said = notes.map(({ kind, by, text }) => `${kind} (${by}): ${text}`)
  for (const [at, one] of sends.entries()) {
    const words = at === 0 ? [prompt, ...said.slice(0, one.notes)] : said.slice(sends[at - 1]!.notes, one.notes)
    await send(io, place, open, id, plainPrompt(words.join('\n\n')), one.id)
  }
  return sends.at(-1)!.id
}

const ticketTask = (ticket: string) => ticket.split('.')[0]!

/** The task of each slot of the crew, by the number of the slot. */
const tasksAtWork = ({ parts: { store, workspace } }: OpenCrew) =>
  store.doc<Record<string, TaskAtWork>>(`crew/${workspace}/tasks`, {})

/** Forgets the task of a slot: if the hub gives it out again, it has to be done again. */
async function forgetTask(open: OpenCrew, id: number): Promise<void> {
  await tasksAtWork(open).update(({ [id]: _, ...others }) => others)
}

async function work(
  io: Io,
  place: Place,
  open: OpenCrew,
  id: number,
  order: WorkOrder & { type: 'task' },
  taskSource: TaskSource,
): Promise<void> {
  const { signal, clock } = io
  const { ticket } = order
  const start = await taskSource.ack(ticket, signal)
  if (typeof start === 'object')
    throw new UsageError(
      `slot ${id} takes no more tasks, and the task went back to the queue: ${start.unready}. Close the slot and spawn its agent again.`,
      1,
    )
  if (start !== 'kept') return
  const turn = await sendTask(io, place, open, id, order)
  for (;;) {
    // A question does not end the wait: the agent continues when the person has answered.
    const options = {
      until: clock.elapsed() + progressMs,
      signal,
      settled: (slot: Slot) => isSettled(slot) && slot.state !== 'asking',
    }
    const [waited] = await open.crew.wait([id], options)
    if (signal.aborted) return
    if (!waited?.settled && (await taskSource.progress(ticket, 'at work', signal)) === 'kept') continue
    const report = await reportOf(open, id, waited?.slot, turn)
    const state = waited?.settled ? await taskSource.respond(ticket, report, signal) : 'lost'
    // A report that was interrupted by a stop of this process is repeated by the next process.
    if (signal.aborted) return
    await forgetTask(open, id)
    const status = typeof state === 'object' ? 'BLOCKED' : report.status
    return say(
      io,
      `slot ${id}: ${ticketTask(ticket).slice(-8)} ${waited?.settled ? status : 'was cancelled or given to another agent'}`,
    )
  }
}

/** An agent that answered the prompt of the task has done the task, whatever prompts it got since. */
async function reportOf({ crew }: OpenCrew, id: number, slot: Slot | undefined, turn: string): Promise<TaskReport> {
  const answer = slot && (await crew.artifact(id, turn).catch(() => undefined))
  if (answer && !('earlier' in answer)) return { status: 'COMPLETED', message: artifactText(id, answer) }
  return { status: 'FAILED', message: slot?.why || `its agent is ${slot?.state ?? 'gone'}` }
}
