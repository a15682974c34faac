import type { Io } from '../../core/io.ts'
import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import { UsageError } from '../../core/io.ts'
import { isMachineName } from '../../wire/frames/frames.ts'
import { keyIn } from './server-access.ts'

/** The name under which hubs know this machine, and the proof that it is the same machine as before. */
export type MachineIdentity = { machine: string; proofFor(host: string): string }

/**
 * The identity of this machine and home: its name, and a secret that is made once. A hub only sees a proof derived from the secret and the
 * hub's own host name, so it cannot pass for this machine at another hub.
 */
export function machineIdentity(io: Io, home: string, named: string | undefined): MachineIdentity {
  const { key } = keyIn(io, home, 'machine.key')
  return {
    machine: machineNameOf(named),
    proofFor: (host) => createHmac('sha256', key).update(`machine link ${host}`).digest('hex'),
  }
}

/** The name under which hubs know this machine and its agents: the one that the person chose, or else its host name. */
export function machineNameOf(named: string | undefined): string {
  if (named === undefined || isMachineName(named)) return named ?? usualName()
  throw new UsageError(
    `--machine-name: found "${named}", allowed: 1 to 63 letters, digits, dots, hyphens and underscores, the first a letter or a digit.`,
  )
}

/** The host name of this machine, without the characters that a name must not contain. */
function usualName(): string {
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 63)
  return name === '' ? 'machine' : name
}
