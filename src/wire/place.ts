import type { Io } from './io.ts'
import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { projectRoot } from '../base/git.ts'
import { UsageError } from './io.ts'

/** Where a run happens: our home, the folder the agents run in, and the project it belongs to. */
export type Place = { home: string; cwd: string; root: string }

export function homeOf(env: Io['env']): string {
  return env.TERMAITE_HOME ? resolve(env.TERMAITE_HOME) : join(env.HOME || homedir(), '.termaite')
}

export function placeOf(io: Io, wanted?: string): Place {
  const folder = resolve(io.cwd, wanted ?? '.')
  let cwd: string
  try {
    cwd = realpathSync(folder)
    if (!statSync(cwd).isDirectory()) throw new Error('it is no folder')
  } catch (error) {
    throw new UsageError(`--cwd: ${folder} cannot be used: ${(error as Error).message}.`)
  }
  return { home: homeOf(io.env), cwd, root: projectRoot(cwd) }
}
