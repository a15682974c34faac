import type { Clock } from '../../base/time/clock.ts'
import type { Slot } from '../slot.ts'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { allOf, isLiving } from '../slot.ts'
import { SlotLedger } from '../slot-ledger.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { isHere, ownerPid } from '../../base/process/owner.ts'
import { namesIn } from '../../base/files/files.ts'
import { knownProjects } from '../../home/projects.ts'

/** Lists the workspaces of a home that have ever had a crew. */
function workspacesOf(home: string): string[] {
  try {
    return readdirSync(join(home, 'crew'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
  } catch {
    return []
  }
}

export type LivingSlot = Slot & { workspace: string }

/** Lists the living slots of every crew; a crew that cannot be read counts as empty. */
export async function livingSlots(home: string, clock: Clock): Promise<LivingSlot[]> {
  const found = await Promise.all(crewsOf(home, clock).map((slots) => slots.catch(() => [])))
  return found.flat()
}

/** Lists the living slots of every crew, for a caller that stops terminals without a slot: throws if a crew cannot be read. */
export async function slotsOfHome(home: string, clock: Clock): Promise<LivingSlot[]> {
  return (await Promise.all(crewsOf(home, clock))).flat()
}

function crewsOf(home: string, clock: Clock): Promise<LivingSlot[]>[] {
  const store = fileStore(home, { clock })
  return workspacesOf(home).map(async (workspace) => {
    const slots = await new SlotLedger(store, workspace, clock).read()
    return allOf(slots)
      .filter(isLiving)
      .map((slot) => ({ ...slot, workspace }))
  })
}

/** The names of a crew's damaged files, which were set aside. */
export function brokenFiles(home: string, workspace: string): string[] {
  return namesIn(join(home, 'crew', workspace))
    .filter((name) => name.endsWith('.broken'))
    .sort()
}

/** Lists the living slots as running turns, because an agent of a crew stays until it is stopped. */
export async function crewAtWork(home: string, clock: Clock) {
  const slots = await livingSlots(home, clock)
  const projects = slots.length > 0 ? new Map(knownProjects(home).map(({ slug, path }) => [slug, path])) : undefined
  return slots.map(({ id, workspace, agent, task, since, owner, state, cwd }) => ({
    turn: `crew:${id}@${workspace}`,
    pid: owner !== undefined && isHere(owner) ? ownerPid(owner) : undefined,
    since,
    project: projects?.get(workspace) ?? cwd,
    prompt: task,
    by: agent,
    slot: { workspace, id, state },
  }))
}
