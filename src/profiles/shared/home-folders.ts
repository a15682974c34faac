import type { CliPlace } from '../../core/profile/profile.ts'
import { isAbsolute, join } from 'node:path'

const folderOf = (variable: string, usual: string) => {
  return ({ home, env }: CliPlace, ...names: string[]) => {
    const set = env[variable]
    return join(set && isAbsolute(set) ? set : join(home, usual), ...names)
  }
}

/** The folders in which programs store their files, as the XDG base directory specification names them. */
export const dataFolder = folderOf('XDG_DATA_HOME', '.local/share')
export const configFolder = folderOf('XDG_CONFIG_HOME', '.config')
export const cacheFolder = folderOf('XDG_CACHE_HOME', '.cache')
export const stateFolder = folderOf('XDG_STATE_HOME', '.local/state')
