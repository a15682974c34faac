import type { Profile } from '../core/profile/profile.ts'
import type { Io } from '../core/io.ts'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findOutside, isProgram } from '../base/process/program-path.ts'
import { allProfiles } from './all.ts'

/** Finds a program on the PATH, but ignores programs that the project of `cwd` put there; undefined if no program remains. */
export function findProgram(word: string, { env, cwd }: Pick<Io, 'env' | 'cwd'>): string | undefined {
  if (word.includes('/')) return isProgram(resolve(cwd, word)) ? word : undefined
  return findOutside(word, env, cwd)
}

/** Lists the known CLIs that are installed on this machine. */
export function installedProfiles(at: Pick<Io, 'env' | 'cwd'>): Profile[] {
  return allProfiles().filter(({ words }) => words.some((word) => findProgram(word, at) !== undefined))
}

/** Whether a login has left a variable or a file. The contents of the file are never read. */
export function hasLogin(profile: Profile, env: Io['env']): boolean {
  return (
    profile.traces.env.some((name) => Boolean(env[name])) ||
    profile.traces.files.some((file) => existsSync(join(env.HOME ?? '', file)))
  )
}
