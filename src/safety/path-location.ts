import { basename, dirname, relative, resolve, sep } from 'node:path'
import { isGitFolder } from '../base/files/git.ts'
import { isWithin, realOf } from '../base/files/real-path.ts'
import { isSecretName, isSecretPlace } from './secret-files.ts'
import { fileKind } from './settings-names.ts'

/** The project's folder, the home, and further folders that may be read like the project: long outputs, skills. All are real paths. */
export type ProjectBounds = {
  root: string
  home: string
  /** Folders that the person added to the project: agents may read and change them like the project itself. */
  added?: readonly string[]
  readable?: readonly string[]
  /** The PATH of the shell. If a program of the project comes first on it, that program does not count as the system's. */
  path?: string
}

/**
 * The target of a path, with links followed. A change of a `guarded` path could make a program run, or loosen our own rules; a `vital`
 * one is guarded because git or termaite needs it.
 */
type PathLocation = {
  real: string
  inside: boolean
  readable: boolean
  device: boolean
  secret: boolean
  guarded: boolean
  vital: boolean
}

const devices = /^\/dev\/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+)$/

export async function locatePath(path: string, bounds: ProjectBounds): Promise<PathLocation> {
  const written = resolve(path)
  if (devices.test(written))
    return { real: written, inside: false, readable: true, device: true, secret: false, guarded: false, vital: false }
  const found = await realOf(written)
  const real = found ?? written
  const around = found === undefined ? undefined : rootsOf(bounds).find((folder) => isWithin(folder, real))
  const inside = around !== undefined
  const readable = inside || (found !== undefined && (bounds.readable ?? []).some((folder) => isWithin(folder, real)))
  const kept = !inside && readable
  // Some file systems ignore the case of names.
  const parts = around === undefined ? [] : relative(around, real).toLowerCase().split(sep)
  return {
    real,
    inside,
    readable,
    device: false,
    secret: isSecretName(written) || isSecretName(real) || (!kept && isSecretPlace(real, bounds.home)),
    guarded:
      around !== undefined &&
      (parts.includes('.git') || fileKind(parts).kind !== 'free' || isInRepository(real, around)),
    vital: parts.some((part) => part === '.git' || part === '.termaite'),
  }
}

/** The project's folder and those that were added to it. */
export const rootsOf = ({ root, added = [] }: Pick<ProjectBounds, 'root' | 'added'>): string[] => [root, ...added]

/**
 * Whether a path belongs to a folder that git could take for a repository although its name is not `.git`, or would turn its folder into
 * one: a folder without a HEAD is not a repository.
 */
function isInRepository(path: string, root: string): boolean {
  if (basename(path) === 'HEAD') return true
  for (let at = dirname(path); isWithin(root, at); at = dirname(at)) {
    if (isGitFolder(at)) return true
    if (at === root) break
  }
  return false
}
