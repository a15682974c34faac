import { openRotation } from '../rotation.ts'
import type { Agent } from '../../core/work/agent.ts'
import type { ProjectCopies, ProjectCopy } from '../../mind/think/decompose/parallel-tasks.ts'
import type { App } from '../app.ts'
import type { NativeParts } from '../native/native-parts.ts'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gitFolders } from '../../base/git.ts'
import { serialQueue } from '../../base/serial-queue.ts'
import { rosterParts } from '../app.ts'
import { worktreeParts } from '../crew/crews.ts'
import { setUpWorktree } from '../../worktrees/worktree-setup.ts'
import { newNativeState, closeNative, leaveSession } from '../native/native-parts.ts'
import { openRoster } from '../roster.ts'
import { newWorktree, removeWorktree } from '../../worktrees/leaf-worktrees.ts'

/**
 * Opens copies of the project, in git worktrees, for tasks that are worked on side by side. Undefined without a
 * repository, or where nothing is kept. `first` is the agent that the person named.
 */
export function openLeafRooms(app: App, first?: string): ProjectCopies | undefined {
  const { place, project, io, ephemeral } = app
  if (ephemeral || !gitFolders(place.root)) return undefined
  const parts = { ...place, slug: project.slug, env: io.env }
  // Results are brought back one at a time, so that each sees what the one before it changed in the project.
  const joining = serialQueue()
  // Git fails when two worktrees are made or removed at the same time.
  const listing = serialQueue()
  const remove = (path: string) => listing(() => removeWorktree(parts, path)).catch(() => {})
  return {
    async open(signal) {
      const path = await listing(() => newWorktree(parts))
      try {
        return await roomIn(path, signal)
      } catch (error) {
        await remove(path)
        throw error
      }
    },
  }

  async function roomIn(path: string, signal: AbortSignal): Promise<ProjectCopy> {
    const copy = await app.snapshots.copy(path, signal)
    try {
      const inside = join(path, relative(place.root, place.cwd))
      const setup = worktreeParts(io, place, app.settings, app.store, project.slug)
      const ready = await setUpWorktree({ ...setup, clock: io.clock }, path, signal)
      const native = nativeIn(app, path, existsSync(inside) ? inside : path)
      return {
        cwd: native.cwd,
        actor: actorIn(app, native, first),
        lacks: `${[ignored, ...ready].join('; ')}.`,
        join: () => joining(copy.bringBack),
        async drop() {
          if (native.state.session !== app.native.state.session) await leaveSession(native, 'other').catch(() => [])
          await closeNative(native).catch(() => {})
          copy.forget()
          await remove(path)
        },
      }
    } catch (error) {
      copy.forget()
      throw error
    }
  }
}

const ignored = 'Files that git ignores are missing from it: installed dependencies, builds, .env files'

/** Our own agent's parts in a copy of the project: tools, sandbox and MCP servers work in that folder. */
function nativeIn({ native }: App, root: string, cwd: string): NativeParts {
  const { session, trustGiven, told } = native.state
  const state = { ...newNativeState(), told, session, trustGiven }
  return { ...native, root, cwd, state }
}

/** Opens the rotation in a copy. A failure is asked about nowhere: the task is done again in the project itself. */
function actorIn(app: App, native: NativeParts, first: string | undefined): Agent {
  const roster = openRoster(app.settings, rosterParts({ ...app, native }))
  return openRotation(app, { consulted: true, roster, first })
}
