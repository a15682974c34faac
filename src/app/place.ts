import type { Io } from '../core/io.ts'
import { realpathSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { projectRoot } from '../base/git.ts'
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
  try {
    cwd = realpathSync(folder)
    if (!statSync(cwd).isDirectory()) throw new Error('it is no folder')
  } catch (error) {
    throw new UsageError(`--cwd: ${folder} cannot be used: ${(error as Error).message}.`)
  }
  return { home: homeOf(io.env), cwd, root: projectRoot(cwd) }
}
