import type { Io } from '../../core/io.ts'
import type { Place } from '../place.ts'
import type { Settings } from '../../settings/settings.ts'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isAlive } from '../../base/owner.ts'
import { isWithin } from '../../base/real-path.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { worktreesOf } from '../../worktrees/slot-worktrees.ts'
import { worktreeWorkspace } from '../../worktrees/task-branches.ts'
import { worktreeParts } from '../crew/crews.ts'
import { slugOf } from '../project.ts'
import { sessionStates } from './supervised-session.ts'
import { voiceOf } from '../../core/io.ts'

/**
 * Removes the worktrees of supervised agents that were killed, unless one holds work that is on no branch or a task that
 * `--resume` would continue. Returns the paths that are gone.
 */
export async function sweepLeftWorktrees(io: Io, place: Place, settings: Settings): Promise<string[]> {
  const store = fileStore(place.home, voiceOf(io))
  const worktrees = worktreesOf(worktreeParts(io, place, settings, store, slugOf(place.root)))
  if (!worktrees) return []
  const gone: string[] = []
  for (const { owner, worktree, flight } of sessionStates(place.root)) {
    if (!worktree || flight || !existsSync(worktree.path) || (owner !== '' && isAlive(owner))) continue
    // Agents can write the file of a session: only a worktree of ours is removed, and only its own branch with it.
    const { path, branch } = worktree
    if (!isWithin(join(place.home, 'worktrees'), path) || branch !== `termaite/${basename(path)}`) continue
    const why = await worktreeWorkspace(io, place.root, worktree, worktrees)
      .clear()
      .catch(() => 'git could not read it')
    if (why === undefined) gone.push(worktree.path)
  }
  return gone
}
