import type { Io } from '../core/io.ts'
import { realpathSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { projectRoot } from '../base/git.ts'
import { UsageError } from '../core/io.ts'

/** Where a run happens: our home, the folder the agents run in, and the project it belongs to. */
export type Place = { home: string; cwd: string; root: string }

export function homeOf(env: Io['env']): string {
  if (env.TERMAITE_HOME) return resolve(env.TERMAITE_HOME)
  return join(env.HOME && isAbsolute(env.HOME) ? env.HOME : ownHome(), '.termaite')
}

/** As the system knows it, when the environment does not say. */
function ownHome(): string {
  try {
    return userInfo().homedir
  } catch {
    throw new UsageError('there is no home folder to keep anything in; set TERMAITE_HOME to a folder you can write.')
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
