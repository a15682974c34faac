import type { Io } from '../core/io.ts'
import { realpathSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { isMissing } from '../base/files.ts'
import { projectRoot } from '../base/git.ts'
import { rememberPlace } from '../base/program-path.ts'
import { UsageError } from '../core/io.ts'

/** Where a run happens: our home, the folder that agents run in, and the root of its project. */
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
  return { home: homeOf(io.env), cwd, root: projectRoot(cwd) }
}
