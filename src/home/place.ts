import type { Io } from '../core/io.ts'
import { realpathSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { isMissing } from '../base/files/files.ts'
import { gitFolders, projectRoot } from '../base/files/git.ts'
import { rememberPlace } from '../base/process/program-path.ts'
import { isWithin, realOrSame } from '../base/files/real-path.ts'
import { UsageError } from '../core/io.ts'

/**
 * The variable that names the project to programs that a sandboxed agent starts outside its sandbox. No program inside the sandbox can
 * set it.
 */
export const withinVariable = 'TERMAITE_WITHIN'

/** The location of a run: our home, the folder that agents run in, and the root of its project. */
export type Place = { home: string; cwd: string; root: string }

export function homeOf(env: Io['env']): string {
  if (env.TERMAITE_HOME) return resolve(env.TERMAITE_HOME)
  return join(env.HOME && isAbsolute(env.HOME) ? env.HOME : ownHome(), '.termaite')
}

/** The home folder that the system knows, for an environment without HOME. */
function ownHome(): string {
  try {
    return userInfo().homedir
  } catch {
    throw new UsageError('there is no home folder; set TERMAITE_HOME to a folder that you can write.')
  }
}

export function placeOf(io: Io, wanted = '.'): Place {
  const folder = isAbsolute(wanted) ? wanted : resolve(io.cwd, wanted)
  let cwd: string
  let isFolder: boolean
  try {
    cwd = realpathSync(folder)
    isFolder = statSync(cwd).isDirectory()
  } catch (error) {
    if (isMissing(error)) throw new UsageError(`--cwd: there is no folder ${folder}. Make it, or name another.`)
    throw new UsageError(`--cwd: the folder ${folder} cannot be used: ${(error as Error).message}.`)
  }
  if (!isFolder) throw new UsageError(`--cwd: ${folder} is not a folder. Name the folder that it is in.`)
  rememberPlace(cwd)
  const place = { home: homeOf(io.env), cwd, root: projectRoot(cwd) }
  const within = io.env[withinVariable]
  if (within !== undefined && !isInside(within, place))
    throw new UsageError(
      `${cwd} is outside ${within}: an agent in a sandbox started this, and what it starts works in the same project.`,
    )
  return place
}

/**
 * Whether a place is inside the project of a sandboxed agent, or inside one of our worktrees of that project. The agent can replace a
 * folder of its project with a link at any time, so this check uses real paths, at the moment a program starts there.
 */
export function isInside(within: string, { home, root }: Pick<Place, 'home' | 'root'>): boolean {
  const project = realOrSame(within)
  if (isWithin(project, root)) return true
  const [ours, theirs] = [gitFolders(project), gitFolders(root)]
  return (
    isWithin(realOrSame(join(home, 'worktrees')), root) &&
    ours !== undefined &&
    theirs !== undefined &&
    realOrSame(ours.common) === realOrSame(theirs.common)
  )
}
