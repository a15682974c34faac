import type { Io } from '../../core/io.ts'
import type { Bench } from '../../core/work/duty.ts'
import type { Plan } from './plan.ts'
import type { SessionState } from './session.ts'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { wordsOf } from '../../base/words.ts'
import { fileStore } from '../../store/files/store.ts'
import { worktreeParts } from '../crew/crews.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { say } from '../../core/io.ts'
import { slugOf } from '../project.ts'
import { openBench, worktreeBench } from '../../worktrees/task-branches.ts'

export type WorkPlace = Pick<SessionState, 'cwd' | 'worktree'> & { bench: Bench; notes: string[] }

/** A worktree of the agent's own, made anew at its place where it is gone; the project itself where none can be. */
export async function placeOfWork(io: Io, { place, settings, agent, state }: Plan, here: boolean): Promise<WorkPlace> {
  const store = fileStore(place.home, { clock: io.clock })
  const worktrees = here ? undefined : worktreesOf(worktreeParts(io, place, settings, store, slugOf(place.root)))
  if (!worktrees) return { cwd: place.cwd, bench: openBench, notes: [`works in ${place.cwd} itself`] }
  const { worktree: before } = state
  if (before && existsSync(before.path))
    return { cwd: state.cwd, worktree: before, bench: worktreeBench(io, place.root, before, worktrees), notes: [] }
  try {
    const name = before ? basename(before.path) : `agent-${agent.name}`
    const { worktree, cwd, notes } = await worktrees.make(worktrees.plan(name), place.cwd)
    return { cwd, worktree, bench: worktreeBench(io, place.root, worktree, worktrees), notes }
  } catch (error) {
    say(io, `termaite: ${wordsOf(error)}; ${agent.name} works in the project itself.`)
    return { cwd: place.cwd, bench: openBench, notes: [] }
  }
}
