import { relative, resolve, sep } from 'node:path'
import { isWithin, realOf } from '../base/real-path.ts'
import { isSecretName, isSecretPlace } from './secret-files.ts'

/** Where the project is; `readable` are folders that may be looked at as it may: long outputs, skills. All are real paths. */
export type Ground = { root: string; home: string; readable?: readonly string[] }

/** Where a path leads, links followed. `guarded`: a change there could make a program run, or loosen our own rules. */
export type Spot = {
  real: string
  inside: boolean
  readable: boolean
  device: boolean
  secret: boolean
  guarded: boolean
}

const devices = /^\/dev\/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|fd\/\d+)$/

export async function spotOf(path: string, ground: Ground): Promise<Spot> {
  const written = resolve(path)
  if (devices.test(written))
    return { real: written, inside: false, readable: true, device: true, secret: false, guarded: false }
  const found = await realOf(written)
  const real = found ?? written
  const inside = found !== undefined && isWithin(ground.root, real)
  const readable = inside || (found !== undefined && (ground.readable ?? []).some((folder) => isWithin(folder, real)))
  const kept = !inside && readable
  return {
    real,
    inside,
    readable,
    device: false,
    secret: isSecretName(written) || isSecretName(real) || (!kept && isSecretPlace(real, ground.home)),
    guarded: inside && isGuarded(relative(ground.root, real)),
  }
}

/** What Git keeps and runs, and what tells us what is allowed. */
function isGuarded(path: string): boolean {
  const parts = path.split(sep)
  return (
    parts.includes('.git') || parts[0] === '.termaite' || (parts[0] === '.claude' && /^settings/.test(parts[1] ?? ''))
  )
}
