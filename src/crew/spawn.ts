import type { Leash } from '../core/work/agent.ts'
import type { CrewParts } from './crew-parts.ts'
import type { HeldSlot, Slots } from './slot.ts'
import type { Worker } from './worker.ts'
import { defined } from '../base/defined.ts'
import { newId } from '../base/id.ts'
import { nearest } from '../base/text/nearest.ts'
import { valueFault } from '../base/option-value.ts'
import { placeholders, readinessOf } from '../core/work/dependencies.ts'
import { startSlot } from './slot-moves.ts'
import { allOf, CrewError, isLiving, nameOf, worksOf } from './slot.ts'

export type Spawn = {
  agent: string
  task?: string
  cwd: string
  leash: Leash
  /** A leash that a person gave the agent, beyond the settings. */
  allowed?: Leash
  model?: string
  /** The folder of the walled agent that spawns this one. */
  within?: string
  mode?: 'window' | 'pane'
  /** The PATH of this process. */
  path?: string
  dependsOn?: readonly number[]
  dependsOnTimeoutMs?: number
  /** Whether the agent works in a worktree of its own; a text is the worktree's name. */
  worktree?: boolean | string
  /** Makes the agent a worker. Beyond the crew's limits a worker is held, while another agent is refused. */
  worker?: Worker
}

/** How long a slot waits for its dependencies by default. */
const defaultPatienceMs = 300_000

/** The longest task text in a list. */
const listedLength = 300

/** Adds a slot; throws a CrewError if it could never run. */
export function withSlot(now: Slots, spawn: Spawn, parts: CrewParts, elsewhere: number): Slots {
  const { clock, owner, isKeeper } = parts
  refuseUnknown(spawn.agent, parts)
  refuseFlag('model', spawn.model)
  const { agent, cwd, leash, allowed, model, within, mode, path, task = '', dependsOn = [], worker } = spawn
  if (!worker) refuseTooMany(now, parts.limits, elsewhere)
  const id = now.next
  const stray = placeholders(task).find((need) => !dependsOn.includes(Number(need)))
  if (stray !== undefined)
    throw new CrewError(`{{slot_${stray}.output}} is in the task, but depends_on does not name ${stray}. Add it there.`)
  const at = clock.now()
  const slot: HeldSlot = defined({
    id,
    agent,
    task: task.length > listedLength ? `${task.slice(0, listedLength - 1)}…` : task,
    cwd,
    leash,
    allowed,
    model,
    within,
    mode,
    path,
    needs: [...new Set(dependsOn)],
    patience: spawn.dependsOnTimeoutMs ?? defaultPatienceMs,
    state: 'held' as const,
    since: at,
    owner: isKeeper ? owner : undefined,
    session: newId(at),
    terminal: { id: crypto.randomUUID() },
    queue: task === '' ? [] : [{ id: newId(at), text: task }],
    worktree: spawn.worktree ? plannedTree(spawn.worktree, id, parts) : undefined,
    worker,
  })
  const slots: Slots = { next: id + 1, slots: { ...now.slots, [id]: slot } }
  const may = readinessOf(nameOf(id), worksOf(slots))
  if ('never' in may) throw new CrewError(`${may.never}.`)
  const starts = may.ready && (!worker || hasRoom(now, parts.limits, elsewhere))
  return starts ? { ...slots, slots: { ...slots.slots, [id]: startSlot(slot, at) } } : slots
}

/** A client chooses these texts, and they become arguments of a command line. */
function refuseFlag(field: string, value: string | undefined): void {
  const why = value === undefined ? undefined : valueFault(value)
  if (why !== undefined) throw new CrewError(`${field}: ${JSON.stringify(value)} ${why}.`)
}

function plannedTree(wanted: string | true, id: number, { worktrees }: CrewParts) {
  if (!worktrees) throw new CrewError('worktree: a worktree needs a git repository, but this project is not one.')
  const name = wanted === true ? `slot-${id}` : wanted
  if (!/^[A-Za-z0-9][\w.-]{0,60}$/.test(name) || name.endsWith('.lock') || name.includes('..'))
    throw new CrewError(
      `worktree: found ${JSON.stringify(wanted)}, allowed: true, or a name of letters, digits, "_", "." and "-".`,
    )
  return worktrees.plan(name)
}

function refuseUnknown(agent: string, { names: all, lacks }: CrewParts): void {
  const names = all()
  if (names.includes(agent)) return
  const why = lacks?.(agent)
  if (why !== undefined) throw new CrewError(why)
  const near = nearest(agent, names)
  const known = names.length === 0 ? 'none is set up: run termaite setup' : `there are ${names.join(', ')}`
  throw new CrewError(`there is no agent "${agent}"${near ? `; did you mean "${near}"?` : `: ${known}.`}`)
}

/** Whether one more agent may work. Held agents do not count, because they use nothing yet. */
export function hasRoom(now: Slots, { perWorkspace, total }: CrewParts['limits'], elsewhere: number): boolean {
  const here = allOf(now).filter((slot) => isLiving(slot) && slot.state !== 'held').length
  return here < perWorkspace && here + elsewhere < total
}

function refuseTooMany(now: Slots, { perWorkspace, total }: CrewParts['limits'], elsewhere: number): void {
  const here = allOf(now).filter(isLiving).length
  const mend = 'kill one that is done (kill_agent, termaite crew kill), or raise the limit in the settings.'
  if (here >= perWorkspace)
    throw new CrewError(`this workspace has ${here} agents, and crew.perWorkspace allows ${perWorkspace}: ${mend}`)
  if (here + elsewhere >= total)
    throw new CrewError(`${here + elsewhere} agents are alive in all, and crew.total allows ${total}: ${mend}`)
}
