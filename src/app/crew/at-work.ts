import type { Clock } from '../../base/clock.ts'
import { isHere, ownerPid } from '../../base/owner.ts'
import { knownProjects } from '../projects.ts'
import { livingSlots } from './workspaces.ts'

/** The agents of every crew, as they stand among the turns at work: none of them ends without being told to. */
export async function crewAtWork(home: string, clock: Clock) {
  const slots = await livingSlots(home, clock)
  const projects = slots.length > 0 ? new Map(knownProjects(home).map(({ slug, path }) => [slug, path])) : undefined
  return slots.map(({ id, workspace, agent, task, since, owner, state, cwd }) => ({
    turn: `crew:${id}@${workspace}`,
    ...(owner !== undefined && isHere(owner) ? { pid: ownerPid(owner) } : {}),
    since,
    project: projects?.get(workspace) ?? cwd,
    prompt: task,
    by: agent,
    slot: { workspace, id, state },
  }))
}
