import type { WallHost, WallLimits, WallPlan } from './limits.ts'
import type { Mount } from './mounts.ts'
import type { SettledSettings } from './project-setting-files.ts'
import type { Quarantined } from './quarantine.ts'
import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { onOneLine } from '../../base/text/ansi.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { foldersAround, gitFolder } from './git-folder.ts'
import { hiddenPlaces, hostSockets, temporary } from './hidden-places.ts'
import { isSeenIn, isWrittenIn, layerMounts } from './mounts.ts'
import { searchOf } from './project-search.ts'
import { keepTaken, settingsOf } from './project-setting-files.ts'
import { heldNames } from '../settings-names.ts'
import { closedPlaces, linksTo, programPlaces, shownAt, systemPlaces } from './system-places.ts'
import { toolchainsOf } from './toolchains.ts'

/**
 * Asks whether to keep files that a command left and from which programs could start by themselves. Meanwhile they are in the quarantine.
 */
export type Keep = (taken: Quarantined) => Promise<boolean>

/**
 * `settle` runs after the command's last process has exited; it removes anything that the command must not leave behind, and reports it.
 */
type Planned = { plan: WallPlan; settle(keep?: Keep): Promise<string[]> }

export const isRoot = () => process.getuid?.() === 0

const empty = (path: string): Mount => ({ path, as: 'empty' })

/** Plans the wall of a command: the mounts with real paths, and the steps after the command. */
export async function planOf(limits: WallLimits, { platform, env, logins = [] }: WallHost): Promise<Planned> {
  const real = (path: string) => realpath(path).catch(() => path)
  const all = (paths: readonly string[] = []) => Promise.all(paths.map(real))
  const { scratch, network, sockets, terminal = false, nested = false } = limits
  const roots = await all([limits.root, ...(limits.added ?? [])])
  const writable = await all(limits.writable)
  // A worker with a scope writes to parts of a project that is otherwise read-only.
  const isWritten = (root: string) =>
    limits.project === 'write' || writable.some((path) => isWithin(root, path) || isWithin(path, root))
  const own = ownHome(limits, env)
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
    ...(bare ? await systemView(limits, env) : limits.whole ? [] : [empty('/Users'), empty(home)]),
    ...programPlaces(env.PATH ?? '', limits.home, [...roots, ...writable]),
    ...tools.shown.flatMap(shownAt),
    ...held.flatMap(({ mounts }) => mounts),
    // A place that shows itself comes before the hidden places, so that keys in it stay hidden. A place that shows another one comes
    // after them, because it hides the original content anyway.
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
    ...held.flatMap(({ git }) => git.mounts).map(({ path, write }): Mount => ({ path, as: write ? 'write' : 'read' })),
  ]
  // A mount on a folder keeps a command from renaming it: under another name, a hidden file in it would be visible to the next command.
  const hiding = roots.flatMap((root) => (limits.hidden ?? []).flatMap((path) => foldersAround(path, root)))
  const pinned = bare ? [...hiding, ...held.flatMap(({ git }) => git.pins)] : []
  const pins = [...new Set(pinned)].filter((path) => isWrittenIn(mounts, path))
  const seen = layerMounts([...pins.map((path): Mount => ({ path, as: 'write' })), ...mounts], { bare })
  const plan = {
    roots,
    mounts: seen,
    covered: sockets && bare ? await hostSockets((path) => isSeenIn(seen, path)) : [],
    settings: roots.some(isWritten) ? heldNames : [],
    network,
    sockets,
    terminal,
    nested,
    asRoot: isRoot(),
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
    // A command chooses the names of the files that it leaves.
    return told.map(onOneLine)
  }
}

/** Asks whether to keep the files that a command left, if somebody can be asked, and reports the outcome. */
async function settledWords(own: string, { told, taken, asks }: SettledSettings, keep?: Keep): Promise<string[]> {
  if (!taken) return told
  const isKept = asks && (await keep?.(taken)) === true
  const lost = isKept ? keepTaken(own, taken) : []
  const names = andList(taken.files)
  const them = taken.files.length === 1 ? 'it' : 'them'
  const what = `The command made or changed ${names}, from which programs could start by themselves later`
  const back = `termaite quarantine restore ${taken.id} brings ${them} back`
  if (!isKept) return [...told, `${what}: ${movedWords(taken)} to the quarantine. ${back}.`]
  if (lost.length > 0) return [...told, `${what}. Not all of them could be put back: ${back}.`]
  return [...told, `${what}. The person let ${them} stay.`]
}

const movedWords = ({ files }: Quarantined) => (files.length === 1 ? 'it was moved' : 'they were moved')

const mostNamed = 20

function andList(files: readonly string[]): string {
  const shown = files.slice(0, mostNamed).map(onOneLine)
  if (files.length > mostNamed) return `${shown.join(', ')} and ${files.length - mostNamed} more`
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** The system and a temporary folder, on an otherwise empty root. */
async function systemView(limits: WallLimits, env: WallHost['env']): Promise<Mount[]> {
  const { root, added = [], home, scratch, whole } = limits
  return [
    ...(whole ? [{ path: '/', as: 'read' } as const, empty('/run')] : []),
    ...systemPlaces(),
    scratch
      ? { path: temporary, as: 'write', from: scratch.folder, private: true }
      : { path: temporary, as: 'temporary' },
    ...[root, ...added, home, ownHome({ home }, env)].flatMap(linksTo),
    { path: await realpath(home).catch(() => home), as: 'folder' },
  ]
}

/** Termaite's own home, as `homeOf` finds it. */
export function ownHome({ home }: Pick<WallLimits, 'home'>, env: WallHost['env']): string {
  return env.TERMAITE_HOME ? resolve(env.TERMAITE_HOME) : join(home, '.termaite')
}
