import type { ProjectCopies, ProjectCopy } from '../../hub/model/tasks/project-copy.ts'
import type { AppPlace, AppRecords } from '../app.ts'
import type { CopiedDependencies } from '../../worktrees/copied-dependencies.ts'
import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { gitFolders } from '../../base/files/git.ts'
import { projectGit } from '../../base/git/project-git.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { serialQueue } from '../../base/serial-queue.ts'
import { isAskedAbout } from '../../safety/settings-names.ts'
import { keepWorktree, newWorktree, removeWorktree, watchWorktree } from '../../worktrees/copy-worktrees.ts'
import { copyDependencies } from '../../worktrees/copied-dependencies.ts'
import { setUpWorktree } from '../../worktrees/worktree-setup.ts'
import { worktreeParts } from '../../crew/machine/crews.ts'

/**
 * Opens copies of the project, in git worktrees, for work that is done side by side. Undefined without a repository, or in a run that
 * stores nothing. `keeps`: whether a copy stays for a day if this process dies before somebody saw the work in it. `installed`: whether
 * the installed dependencies are copied too, unless `crew.setup` installs them.
 */
export function openProjectCopies(
  app: AppRecords,
  { keeps, installed }: { keeps: boolean; installed?: boolean },
): ProjectCopies | undefined {
  const { place, project, io, ephemeral } = app
  if (ephemeral || !gitFolders(place.root)) return undefined
  const parts = { ...place, slug: project.slug, env: io.env }
  // Results are merged into the project one at a time, so that each sees the changes of the one before it.
  const joining = serialQueue()
  // Git fails when two worktrees are made or removed at the same time.
  const listing = serialQueue()
  const remove = (path: string) => listing(() => removeWorktree(parts, path)).catch(() => {})
  return {
    async open(signal) {
      const path = await listing(() => newWorktree(parts, keeps))
      try {
        return await copyIn(path, signal)
      } catch (error) {
        await remove(path)
        throw error
      }
    },
  }

  async function copyIn(path: string, signal: AbortSignal): Promise<ProjectCopy> {
    const copy = await app.snapshots.copy(path, signal)
    try {
      const inside = join(path, relative(place.root, place.cwd))
      const setup = worktreeParts(io, place, app.settings, app.store, project.slug)
      const watch = await watchWorktree(parts, path)
      const copied =
        installed && setup.setup === undefined ? await copyDependencies(parts, path, signal) : { copied: [], left: [] }
      const ready = await setUpWorktree({ ...setup, clock: io.clock }, path, signal)
      if (setup.setup !== undefined) await copy.begin()
      return {
        root: path,
        cwd: existsSync(inside) ? inside : path,
        lacks: `${[missingWords(copied), ...ready].join('; ')}.`,
        async changed() {
          const changes = await copy.changed()
          const leadingOut = changes.paths.filter((one) => leadsOut(path, one))
          const settings = changes.paths.filter((one) => isAskedAbout(one) && isThere(path, one))
          return { ...changes, leadingOut, settings, ...(await watch(changes.paths)) }
        },
        join: (what) => joining(() => copy.bringBack(what)),
        async keep() {
          copy.forget()
          await listing(async () => keepWorktree(place.root, path, io.clock.now())).catch(() => {})
        },
        async drop() {
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

/** Says why no copy of the project can be made, as the end of a sentence; undefined if copies are possible. */
export async function noCopies({ ephemeral, place, io }: AppPlace): Promise<string | undefined> {
  if (ephemeral) return 'nothing of this run is kept'
  if (!gitFolders(place.root)) return 'this project is not a git repository'
  const { code } = await projectGit(io.env).ran(place.root, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  return code === 0 ? undefined : 'this repository has no commit yet'
}

/** Whether a path in a copy is a link to a place outside of it. */
function leadsOut(root: string, path: string): boolean {
  try {
    const place = join(root, path)
    return lstatSync(place).isSymbolicLink() && !isWithin(root, resolve(dirname(place), readlinkSync(place)))
  } catch {
    return false
  }
}

const isThere = (root: string, path: string) => lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined

/** Says what is not in a copy. */
function missingWords({ copied, left }: CopiedDependencies): string {
  const ignored = `Files that git ignores are missing from it: ${copied.length > 0 ? '' : 'installed dependencies, '}builds, .env files`
  const there = copied.length > 0 ? `; these folders were copied: ${copied.join(', ')}` : ''
  return `${ignored}${there}${left.length > 0 ? `; these folders were not copied: ${left.join(', ')}` : ''}`
}
