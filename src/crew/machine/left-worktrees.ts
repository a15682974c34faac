import type { Io } from '../../core/io.ts'
import type { Place } from '../../home/place.ts'
import type { Settings } from '../../settings/settings.ts'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isAlive } from '../../base/process/owner.ts'
import { carries, processTable } from '../../base/process/process-table.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { markOf } from '../../terminals/program/terminal-program.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { worktreeWorkspace } from '../../worktrees/task-branches.ts'
import { worktreeParts } from './crews.ts'
import { slugOf } from '../../home/project.ts'
import { sessionStates } from './supervised-session.ts'
import { voiceOf } from '../../core/io.ts'

/**
 * Removes the worktrees of supervised agents that were killed, unless a worktree has work that is on no branch, a task that `--resume`
 * would continue, or a CLI that still runs. Returns the paths that were removed.
 */
export async function sweepLeftWorktrees(io: Io, place: Place, settings: Settings): Promise<string[]> {
  const store = fileStore(place.home, voiceOf(io))
  const worktrees = worktreesOf(worktreeParts(io, place, settings, store, slugOf(place.root)))
  if (!worktrees) return []
  const gone: string[] = []
  for (const { owner, worktree, flight, terminal } of sessionStates(place.root)) {
    if (!worktree || flight || !existsSync(worktree.path) || (owner !== '' && isAlive(owner))) continue
    // A CLI in tmux outlives the process that supervised it, and `--resume` continues it in its worktree.
    if (await runsIn(terminal)) continue
    // Agents can write the file of a session, so only a worktree of ours is removed, together with only its own branch.
    const { path, branch } = worktree
    if (!isWithin(join(place.home, 'worktrees'), path) || branch !== `termaite/${basename(path)}`) continue
    const why = await worktreeWorkspace(io, place.root, worktree, worktrees)
      .clear()
      .catch(() => 'git could not read it')
    if (why === undefined) gone.push(worktree.path)
  }
  return gone
}

/** Whether any process of a terminal is alive. */
async function runsIn(terminal: string): Promise<boolean> {
  const own = await Promise.all((await processTable()).map(({ pid }) => carries(pid, markOf(terminal))))
  return own.includes(true)
}
