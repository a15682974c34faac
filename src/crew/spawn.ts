import type { Leash } from '../core/work/agent.ts'
import type { CrewParts } from './parts.ts'
import type { Slot, Slots } from './slot.ts'
import { newId } from '../base/id.ts'
import { nearest } from '../base/nearest.ts'
import { readinessOf, placeholders } from '../core/work/dependencies.ts'
import { CrewError } from './error.ts'
import { allOf, isOver, nameOf, worksOf } from './slot.ts'

export type Spawn = {
  agent: string
  task?: string
  cwd: string
  leash: Leash
  /** A leash that a person gave it, whatever the settings say. */
  allowed?: Leash
  model?: string
  mode?: 'window' | 'pane'
  dependsOn?: readonly number[]
  dependsOnTimeoutMs?: number
  /** In a worktree of its own; a text is its name. */
  worktree?: boolean | string
}

/** How long a spawn may be held when nobody says otherwise. */
const patience = 300_000

/** So much of a task is listed. */
const listed = 300

/** The slots with one more; throws words when it can never run. */
export function withSlot(now: Slots, spawn: Spawn, parts: CrewParts, elsewhere: number): Slots {
  const { clock, owner, carries, worktrees } = parts
  refuseUnknown(spawn.agent, parts)
  refuseTooMany(now, parts.limits, elsewhere)
  const { agent, cwd, leash, allowed, model, mode, task = '', dependsOn = [] } = spawn
  const id = now.next
  const stray = placeholders(task).find((need) => !dependsOn.includes(Number(need)))
  if (stray !== undefined)
    throw new CrewError(`{{slot_${stray}.output}} is in the task, but depends_on does not name ${stray}. Add it there.`)
  if (spawn.worktree && !worktrees) throw new CrewError('there is no git repository here to make a worktree of.')
  const at = clock.now()
  const slot: Slot = {
    id,
    agent,
    task: task.length > listed ? `${task.slice(0, listed - 1)}…` : task,
    cwd,
    leash,
    ...(allowed === undefined ? {} : { allowed }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
    needs: [...new Set(dependsOn)],
    patience: spawn.dependsOnTimeoutMs ?? patience,
    state: 'held',
    since: at,
    ...(carries ? { owner } : {}),
    session: newId(at),
    terminal: { id: crypto.randomUUID() },
    queue: task === '' ? [] : [{ id: newId(at), text: task }],
    ...(spawn.worktree ? { worktree: worktrees!.plan(worktreeName(spawn.worktree, id)) } : {}),
  }
  const slots: Slots = { next: id + 1, slots: { ...now.slots, [id]: slot } }
  const may = readinessOf(nameOf(id), worksOf(slots))
  if ('never' in may) throw new CrewError(`${may.never}.`)
  return may.ready ? { ...slots, slots: { ...slots.slots, [id]: { ...slot, state: 'starting' } } } : slots
}

function worktreeName(wanted: string | true, id: number): string {
  const name = wanted === true ? `slot-${id}` : wanted
  if (!/^[A-Za-z0-9][\w.-]{0,60}$/.test(name) || name.endsWith('.lock') || name.includes('..'))
    throw new CrewError(
      `worktree: found ${JSON.stringify(wanted)}, allowed: true, or a name of letters, digits, "_", "." and "-".`,
    )
  return name
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

function refuseTooMany(now: Slots, { perWorkspace, total }: CrewParts['limits'], elsewhere: number): void {
  const here = allOf(now).filter((slot) => !isOver(slot)).length
  const mend = 'kill one that is done (kill_agent, termaite crew kill), or raise it in the settings.'
  if (here >= perWorkspace)
    throw new CrewError(`${here} agents are in this workspace, and crew.perWorkspace allows ${perWorkspace}: ${mend}`)
  if (here + elsewhere >= total)
    throw new CrewError(`${here + elsewhere} agents are at work in all, and crew.total allows ${total}: ${mend}`)
}
