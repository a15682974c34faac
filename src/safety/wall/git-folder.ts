import type { Env } from '../../base/env.ts'
import type { GitPlace } from './git-places.ts'
import type { SearchResult } from './project-search.ts'
import { lstatSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { isThere } from '../../base/files/files.ts'
import { gitFolders, hasOwnGitFolders } from '../../base/files/git.ts'
import { isWithin, realIfThere } from '../../base/files/real-path.ts'
import { gitPrograms } from './git-programs.ts'
import { linksIn, modulesIn, planOf, remove, withoutPrograms } from './git-places.ts'
import { nestedRepositories } from './nested-repositories.ts'

/** A path that is mounted on itself, so that it can be neither moved nor replaced. */
type GitMount = { path: string; write: boolean }

/**
 * How a wall protects the git folders of a project. `pins` are folders around protected programs, none of which may be renamed. `settle`
 * removes anything that a command must not leave there, and reports it.
 */
type GitFolder = {
  mounts: readonly GitMount[]
  pins: readonly string[]
  settle(now?: SearchResult): Promise<string[]>
}

/**
 * The limits of a wall that concern git. `env` is for running git to read its settings; `found` is a search of a writable project, begun
 * at `since`.
 */
type GitLimits = { root: string; git: 'read' | 'write'; env: Env; found?: SearchResult; since: number }

/**
 * Finds the mounts that belong on top of the project's own mount. Every git folder is a mount: read-only, or writable with its settings,
 * hooks and pointers to other folders read-only. Files of the project that git's settings use as programs, hooks or further settings are
 * read-only too.
 */
export async function gitFolder({ root, git, env, found, since }: GitLimits): Promise<GitFolder> {
  const folders = foldersAt(root)
  const guards = folders.map((folder) => guard(folder, git === 'write'))
  if (!found) return { mounts: guards.flatMap(({ mounts }) => mounts), pins: [], settle: () => settleGuards(guards) }
  const nested = nestedRepositories(root, found, { env, since })
  const inside = nested.known().map((folder) => guard(folder, git === 'write'))
  const link = join(root, '.git')
  const leads = linkTo(link)
  const [own] = folders
  const places = [...folders, ...nested.known()].map(({ path }) => path)
  const programsOf = (tree: string, folder: string) =>
    gitPrograms({ root: tree, own: folder, project: root, folders: places, env })
  const asked = await Promise.all([
    ...(own === undefined ? [] : [programsOf(root, own.path)]),
    // If git cannot read the settings of a repository in the project, it cannot run anything from them either.
    ...nested.trees().map(({ tree, folder }) => programsOf(tree, folder).catch(() => ({ kept: [], missing: [] }))),
  ])
  const programs = { kept: asked.flatMap(({ kept }) => kept), missing: asked.flatMap(({ missing }) => missing) }
  const all = [...guards, ...inside]
  /** The innermost git folder around a file that git's settings name; undefined for one among the project's own files. */
  const around = (path: string) =>
    places.filter((place) => isWithin(place, path)).sort((a, b) => b.length - a.length)[0]
  const isHeld = (path: string) => {
    const place = around(path)
    return place !== undefined && [...heldFolders, ...heldFiles].some((name) => isWithin(join(place, name), path))
  }
  const kept = programs.kept.filter((path) => !isHeld(path))
  const mounts = [
    ...(leads !== undefined || !isThere(link) ? [] : [{ path: link, write: false }]),
    ...nested.pointers().map((path) => ({ path, write: false })),
    ...all.flatMap((one) => one.mounts),
    ...kept.map((path) => ({ path, write: false })),
  ]
  return {
    mounts,
    pins: kept.flatMap((path) => foldersAround(path, around(path) ?? root)),
    async settle(now) {
      const told = await settleGuards(all)
      if (leads !== undefined && linkTo(link) !== leads) {
        remove(root, link)
        symlinkSync(leads, link)
        told.push(`The command replaced the link .git; it was put back.`)
      }
      for (const path of programs.missing)
        if (remove(around(path) ?? root, path))
          told.push(`The command made ${relative(root, path)}, which git's settings name; it was removed.`)
      return [...told, ...(now ? await nested.settle(now) : [])]
    },
  }
}

const linkTo = (path: string) =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined

const settleGuards = async (guards: readonly Guard[]) => guards.flatMap((one) => one.settle())

/** The git folders of a project: its own, the one that worktrees share, and those of its submodules. */
function foldersAt(root: string): GitPlace[] {
  const folders = gitFolders(root)
  const [own, common] = folders ? [realIfThere(folders.own), realIfThere(folders.common)] : []
  if (own === undefined || common === undefined || !hasOwnGitFolders(root, { own, common })) return []
  const modules = modulesIn(join(common, 'modules')).map((path) => ({ path }))
  if (own === common) return [{ path: own }, ...modules]
  return [{ path: own, linked: true }, { path: common }, ...modules]
}

type Guard = { mounts: GitMount[]; settle(): string[] }

/**
 * Names that decide which programs git runs and where it looks. Missing ones are created empty, because only an existing name can be made
 * read-only.
 */
const heldFolders = ['hooks', 'modules', 'worktrees']
const heldFiles = ['config', 'config.worktree', 'info/attributes', 'objects/info/alternates']

/** Names that cannot be created empty: they are made read-only if they exist, otherwise removed after the command. */
const swept = ['commondir', 'gitdir', 'remotes', 'branches']

/** Folders that must not be renamed, because they contain something read-only. */
const pinned = ['info', 'objects', 'objects/info']

function guard({ path, linked = false, bare = false }: GitPlace, write: boolean): Guard {
  if (!write) return { mounts: [{ path, write: false }], settle: () => [] }
  if (!linked && !bare) prepare(path)
  const at = (names: readonly string[]) => names.map((name) => join(path, name)).filter(isThere)
  const names = [...heldFolders, ...heldFiles, ...swept]
  const held = at(names)
  const absent = names.map((name) => join(path, name)).filter((one) => !held.includes(one))
  const links = linksIn(path, heldFolders)
  const todo = planOf(path)
  return {
    mounts: [
      { path, write: true },
      ...at(pinned).map((one) => ({ path: one, write: true })),
      ...held.map((one) => ({ path: one, write: false })),
    ],
    settle() {
      const gone = absent.filter((one) => remove(path, one)).map((one) => `The command made ${one}; it was removed.`)
      const led = [...linksIn(path, heldFolders, true)].filter(
        ([one, to]) => links.get(one) !== to && remove(path, one),
      )
      return [
        ...gone,
        ...led.map(([one, to]) => `The command made ${one} a link to ${to}; it was removed.`),
        ...withoutPrograms(path, todo),
      ]
    },
  }
}

/** Creates what is missing; a git folder that cannot be written needs none of it. */
function prepare(folder: string): void {
  try {
    for (const name of [...heldFolders, ...pinned]) mkdirSync(join(folder, name), { recursive: true })
    for (const name of heldFiles)
      if (!isThere(join(folder, name))) writeFileSync(join(folder, name), '', { flag: 'wx' })
  } catch {
    return
  }
}

/** The folders around a path, up to a common outer folder. */
export function foldersAround(path: string, root: string): string[] {
  const folder = dirname(path)
  return folder === root || !isWithin(root, folder) ? [] : [...foldersAround(folder, root), folder]
}
