import type { WallHost, WallLimits, WallPlan } from './limits.ts'
import type { Mount, WallPart } from './mounts.ts'
import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isWithin } from '../../base/real-path.ts'
import { gitFolder } from './git-folder.ts'
import { hiddenPlaces, hostSockets, temporary } from './hidden-places.ts'
import { isSeenIn, layered } from './mounts.ts'
import { settingsOf } from './project-settings.ts'
import { settingsNames } from './settings-names.ts'
import { closedPlaces, linksTo, programPlaces, shownAt, systemPlaces } from './system-places.ts'
import { toolchainsOf } from './toolchains.ts'

type Planned = { plan: WallPlan; parts: Pick<WallPart, 'settle'>[] }

export const isRoot = () => process.getuid?.() === 0

const empty = (path: string): Mount => ({ path, as: 'empty' })

/** Plans the wall of a command: the mounts in real paths, and the parts that are settled after it. */
export async function planOf(limits: WallLimits, { platform, env, logins = [] }: WallHost): Promise<Planned> {
  const real = (path: string) => realpath(path).catch(() => path)
  const all = (paths: readonly string[] = []) => Promise.all(paths.map(real))
  const { scratch, network, sockets, terminal = false, nested = false } = limits
  const roots = await all([limits.root, ...(limits.added ?? [])])
  const writable = await all(limits.writable)
  // A worker with a scope writes to parts of a project that is otherwise only read.
  const isWritten = (root: string) =>
    limits.project === 'write' || writable.some((path) => isWithin(root, path) || isWithin(path, root))
  const gits = await Promise.all(
    roots.map((root) => gitFolder({ root, project: isWritten(root) ? 'write' : 'read', git: limits.git, env })),
  )
  const own = ownHome(limits, env)
  const home = await real(limits.home)
  const settings =
    platform === 'linux'
      ? roots.filter(isWritten).map((root) => settingsOf(root, { home, quarantine: join(own, 'quarantine') }).part())
      : []
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
    ...settings.flatMap((part) => part.mounts),
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
    ...gits.flatMap(({ mounts }) => mounts).map(({ path, write }): Mount => ({ path, as: write ? 'write' : 'read' })),
  ]
  const seen = layered(mounts, { bare })
  const plan = {
    roots,
    mounts: seen,
    covered: sockets && bare ? await hostSockets((path) => isSeenIn(seen, path)) : [],
    settings: roots.some(isWritten) ? settingsNames : [],
    network,
    sockets,
    terminal,
    nested,
    asRoot: isRoot(),
    scratch,
  }
  return { plan, parts: [...gits, ...settings] }
}

/** The system and a temporary folder, on a root where nothing else is. */
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
