import type { Argv, WallHost, WallLimits, WallPlan } from './limits.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { programOutside } from '../../base/process/program-path.ts'
import { makeFolder, replaceFile } from '../../base/files/files.ts'
import { randomName } from '../../base/id.ts'
import { failedTrial, notInstalled } from './availability.ts'
import { bubblewrap } from './bubblewrap.ts'
import { isThereIn, layerMounts } from './mounts.ts'
import { seatbelt } from './seatbelt.ts'
import { systemCallFilter } from './system-call-filter.ts'
import { systemPlaces } from './system-places.ts'
import type { Keep } from './wall-plan.ts'
import { isRoot, ownHome, planOf } from './wall-plan.ts'

export type { Keep } from './wall-plan.ts'
export type { Argv, TurnScratch, WallBind, WallHost, WallLimits } from './limits.ts'

/**
 * A command behind a wall. After its last process has exited, `settle` removes anything that it must not leave behind, and reports it.
 * `sees` says whether a path exists behind the wall.
 */
export type Walled = { argv: Argv; settle(keep?: Keep): Promise<string[]>; sees(path: string): boolean }

export type Wall = {
  /** Why this system has no sandbox; undefined if it has one. */
  none(): Promise<string | undefined>
  /** Wraps a command so that the operating system enforces its limits. */
  wrap(command: Argv, limits: WallLimits): Promise<Walled | { none: string }>
}

export function wallOf(host: WallHost): Wall {
  const { platform, env } = host
  let trial: Promise<string | undefined> | undefined
  const none = () => (trial ??= tryWall())
  return { none, wrap }

  async function wrap(command: Argv, limits: WallLimits): Promise<Walled | { none: string }> {
    const why = await none()
    if (why !== undefined) return { none: why }
    try {
      // Our home is created before the mounts are chosen, because a folder that does not exist yet would not be hidden.
      const filter = platform === 'linux' ? filterFile(limits, ownHome(limits, env)) : undefined
      const { plan, settle } = await planOf(limits, host)
      if (filter === undefined) return { argv: seatbelt(command, plan), settle, sees: () => true }
      const writable = plan.mounts.filter(({ as }) => as === 'write').map(({ path, from = path }) => from)
      const bwrap = programOutside('bwrap', env, writable)
      const unshare = programOutside('unshare', env, writable)
      const sees = (path: string) => isThereIn(plan.mounts, path) || /^\/(?:proc|dev)(?:\/|$)/.test(path)
      if (bwrap)
        return { argv: bubblewrap(command, plan, { bwrap, filter, ...(unshare && { unshare }) }), settle, sees }
      await settle()
      return { none: notInstalled }
    } catch (error) {
      return { none: `the sandbox could not be prepared: ${messageOf(error)}` }
    }
  }

  async function tryWall(): Promise<string | undefined> {
    if (platform !== 'linux' && platform !== 'darwin') return `termaite has no sandbox for ${platform}`
    const widest = {
      settings: [],
      covered: [],
      network: false,
      sockets: false,
      terminal: false,
      nested: false,
      asRoot: isRoot(),
    }
    const plan: WallPlan = {
      roots: [],
      mounts: platform === 'linux' ? layerMounts(systemPlaces(), { bare: true }) : [],
      ...widest,
    }
    if (platform === 'darwin') return failedTrial(seatbelt(['/usr/bin/true'], plan), host)
    const bwrap = programOutside('bwrap', env, [])
    if (bwrap === undefined) return notInstalled
    const filter = systemCallFilter(plan)
    if (!filter) return `termaite does not know the system calls of this processor (${process.arch})`
    return failedTrial(bubblewrap(['true'], plan, { bwrap }), host, filter)
  }
}

/** The file with the filter of system calls, in termaite's own home, which is hidden behind the wall. */
function filterFile({ sockets, nested = false }: WallLimits, own: string): string {
  const folder = join(own, 'wall')
  const path = join(folder, `${process.arch}${sockets ? '-sockets' : ''}${nested ? '-nested' : ''}.seccomp`)
  const filter = systemCallFilter({ sockets, nested })!
  makeFolder(folder)
  if (!isSame(path, filter)) replaceFile(path, filter, `${path}.${randomName()}`)
  return path
}

function isSame(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes)
  } catch {
    return false
  }
}
