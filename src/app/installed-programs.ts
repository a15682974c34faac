import type { Profile } from '../core/work/profile.ts'
import type { Io } from '../core/io.ts'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { profiles } from '../profiles/all.ts'

/** Finds a program on the PATH; undefined when it is not there. */
export function findProgram(word: string, env: Io['env']): string | undefined {
  const places = word.includes('/')
    ? [word]
    : (env.PATH ?? '')
        .split(delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => join(folder, word))
  return places.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch {
      return false
    }
  })
}

/** Lists the known CLIs that are installed on this machine. */
export function installedProfiles(env: Io['env']): Profile[] {
  return profiles.filter(({ words }) => words.some((word) => findProgram(word, env) !== undefined))
}

/** Whether a login has left a variable or a file. The file's contents are never read. */
export function hasLogin(profile: Profile, env: Io['env']): boolean {
  return (
    profile.traces.env.some((name) => Boolean(env[name])) ||
    profile.traces.files.some((file) => existsSync(join(env.HOME ?? '', file)))
  )
}
