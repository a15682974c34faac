import type { Argv, WallHost, WallLimits, WallPlan } from './limits.ts'
import type { Mount } from './mounts.ts'
import type { Quarantined } from './quarantine.ts'
import { readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { programOutside } from '../../base/program-path.ts'
import { isWithin } from '../../base/real-path.ts'
import { makeFolder, replaceFile } from '../../base/files.ts'
import { randomName } from '../../base/id.ts'
import { failedTrial, notInstalled } from './availability.ts'
import { bubblewrap } from './bubblewrap.ts'
import { gitFolder } from './git-folder.ts'
import { hiddenPlaces, hostSockets, temporary } from './hidden-places.ts'
import { isSeenIn, isThereIn, layered } from './mounts.ts'
import type { SettledSettings } from './project-settings.ts'
import { keepTaken, settingsOf } from './project-settings.ts'
import { searchOf } from './project-search.ts'
import { seatbelt } from './seatbelt.ts'
import { heldNames } from './settings-names.ts'
import { systemCallFilter } from './system-call-filter.ts'
import { closedPlaces, linksTo, programPlaces, shownAt, systemPlaces } from './system-places.ts'
import { toolchainsOf } from './toolchains.ts'

export type { Argv, TurnScratch, WallBind, WallHost, WallLimits } from './limits.ts'

/**
 * Asks whether files stay that a command left and from which programs could start by themselves. They are in the quarantine
 * meanwhile.
 */
export type Keep = (taken: Quarantined) => Promise<boolean>

/**
 * A command behind a wall. After its last process has ended, `settle` takes away what it may not leave behind, and names it. `sees`
 * tells whether there is a place for a path behind the wall.
 */
export type Walled = { argv: Argv; settle(keep?: Keep): Promise<string[]>; sees(path: string): boolean }

export type Wall = {
  /** Why this system has no sandbox; undefined if it has one. */
  none(): Promise<string | undefined>
  /** Wraps a command so that the operating system holds it to its limits. */
  wrap(command: Argv, limits: WallLimits): Promise<Walled | { none: string }>
}

export function wallOf(host: WallHost): Wall {
  const { platform, env, logins = [] } = host
  const asRoot = process.getuid?.() === 0
  let trial: Promise<string | undefined> | undefined
  const none = () => (trial ??= tried())
  return { none, wrap }

  async function wrap(command: Argv, limits: WallLimits): Promise<Walled | { none: string }> {
    const why = await none()
    if (why !== undefined) return { none: why }
    try {
      // Our home is made before the mounts are chosen, because a folder that does not exist yet would not be hidden.
      const filter = platform === 'linux' ? filterFile(limits, ownHome(limits)) : undefined
      const { plan, settle } = await planned(limits)
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

  async function planned(limits: WallLimits): Promise<{ plan: WallPlan; settle: Walled['settle'] }> {
    const real = (path: string) => realpath(path).catch(() => path)
    const all = (paths: readonly string[] = []) => Promise.all(paths.map(real))
    const { scratch, network, sockets, terminal = false, nested = false } = limits
    const roots = await all([limits.root, ...(limits.added ?? [])])
    const writable = await all(limits.writable)
    // A worker with a scope writes to parts of a project that is otherwise only read.
    const isWritten = (root: string) =>
      limits.project === 'write' || writable.some((path) => isWithin(root, path) || isWithin(path, root))
    const own = ownHome(limits)
    const home = await real(limits.home)
    const since = Date.now()
    const held = await Promise.all(
      roots.map(async (root) => {
        const search = isWritten(root) ? searchOf(root, home) : undefined
        const found = await search?.look()
        const git = await gitFolder({ root, git: limits.git, env, found, since })
        const settings = found && platform === 'linux' ? settingsOf(root, { home, own }) : undefined
        return { git, search, settings, mounts: settings?.begin(found!) ?? [] }
      }),
    )
    const binds = (shown: boolean) =>
      (limits.binds ?? [])
        .filter(({ from, to }) => (from === to) === shown)
        .map(({ from, to, write }): Mount => ({ path: to, from, as: write ? 'write' : 'read', private: to === home }))
    const tools = toolchainsOf(limits.home, env)
    const bare = platform === 'linux'
    const mounts: Mount[] = [
      ...(bare
        ? await systemView(limits, [...roots, ...writable])
        : limits.whole
          ? []
          : [empty('/Users'), empty(home)]),
      ...tools.shown.flatMap(shownAt),
      ...held.flatMap(({ mounts }) => mounts),
      // A place that shows itself comes before the hidden places, so that keys in it stay hidden. A place that shows something
      // else comes after them, because it hides what lies there anyway.
      ...binds(true),
      ...hiddenPlaces({
        home: limits.home,
        own,
        further: [...logins, ...tools.hidden, ...(bare ? closedPlaces() : []), ...(limits.hidden ?? [])],
        env,
      }),
      ...binds(false),
      ...(limits.readable ?? []).flatMap(shownAt),
      ...roots.map((path): Mount => ({ path, as: limits.project })),
      ...writable.map((path): Mount => ({ path, as: 'write' })),
      ...held
        .flatMap(({ git }) => git.mounts)
        .map(({ path, write }): Mount => ({ path, as: write ? 'write' : 'read' })),
    ]
    const seen = layered(mounts, { bare })
    const plan = {
      roots,
      mounts: seen,
      covered: sockets && bare ? await hostSockets((path) => isSeenIn(seen, path)) : [],
      settings: roots.some(isWritten) ? heldNames : [],
      network,
      sockets,
      terminal,
      nested,
      asRoot,
      scratch,
    }
    return { plan, settle }

    async function settle(keep?: Keep): Promise<string[]> {
      const told: string[] = []
      for (const { git, search, settings } of held) {
        const now = await search?.look(since)
        told.push(...(await git.settle(now)))
        if (settings) told.push(...(await settledWords(own, settings.settle(now!), keep)))
      }
      return told
    }
  }

  /** The system, a temporary folder and the person's programs, on a root where nothing else is. */
  async function systemView(limits: WallLimits, writable: readonly string[]): Promise<Mount[]> {
    const { root, added = [], home, scratch, whole } = limits
    return [
      ...(whole ? [{ path: '/', as: 'read' } as const, empty('/run')] : []),
      ...systemPlaces(),
      scratch
        ? { path: temporary, as: 'write', from: scratch.folder, private: true }
        : { path: temporary, as: 'temporary' },
      ...[root, ...added, home, ownHome({ home })].flatMap(linksTo),
      { path: await realpath(home).catch(() => home), as: 'folder' },
      ...programPlaces(env.PATH ?? '', home, writable),
    ]
  }

  /** Termaite's own home, as `homeOf` finds it. */
  function ownHome({ home }: Pick<WallLimits, 'home'>): string {
    return env.TERMAITE_HOME ? resolve(env.TERMAITE_HOME) : join(home, '.termaite')
  }

  async function tried(): Promise<string | undefined> {
    if (platform !== 'linux' && platform !== 'darwin') return `termaite has no sandbox for ${platform}`
    const widest = { settings: [], covered: [], network: false, sockets: false, terminal: false, nested: false, asRoot }
    const plan: WallPlan = {
      roots: [],
      mounts: platform === 'linux' ? layered(systemPlaces(), { bare: true }) : [],
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

const empty = (path: string): Mount => ({ path, as: 'empty' })

/** Asks about what a command left, where somebody can be asked, and says what became of it. */
async function settledWords(own: string, { told, taken, asks }: SettledSettings, keep?: Keep): Promise<string[]> {
  if (!taken) return told
  const isKept = asks && (await keep?.(taken)) === true
  const lost = isKept ? keepTaken(own, taken) : []
  const names = listed(taken.files)
  const them = taken.files.length === 1 ? 'it' : 'them'
  const what = `The command made or changed ${names}, from which programs could start by themselves later`
  const back = `termaite quarantine restore ${taken.id} brings ${them} back`
  if (!isKept) return [...told, `${what}: ${moved(taken)} to the quarantine. ${back}.`]
  if (lost.length > 0) return [...told, `${what}. Not all of them could be put back: ${back}.`]
  return [...told, `${what}. The person let ${them} stay.`]
}

const moved = ({ files }: Quarantined) => (files.length === 1 ? 'it was moved' : 'they were moved')

const mostNamed = 20

function listed(files: readonly string[]): string {
  const shown = files.slice(0, mostNamed)
  if (files.length > mostNamed) return `${shown.join(', ')} and ${files.length - mostNamed} more`
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
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
