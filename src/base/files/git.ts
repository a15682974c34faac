import type { Env } from '../env.ts'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { isThere, lookAt } from './files.ts'
import { isWithin } from './real-path.ts'

/** Returns the git root of a folder, or the folder itself, as a real path. Starts no process. */
export function projectRoot(cwd: string): string {
  const folder = realpathSync(cwd)
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return folder
  }
}

/** Returns the folder of a project's git index (`own`) and the folder that its worktrees share (`common`). */
export function gitFolders(root: string): { own: string; common: string } | undefined {
  try {
    const place = join(root, '.git')
    const own = statSync(place).isDirectory() ? place : resolve(root, pointer(readFileSync(place, 'utf8')))
    return { own, common: commonFolder(own) }
  } catch {
    return undefined
  }
}

/**
 * Whether the git folders of a project are its own: they are inside it, or the folder outside names the project as its worktree or its
 * submodule. A malicious project could name any other repository as its own.
 */
export function hasOwnGitFolders(root: string, { own, common }: { own: string; common: string }): boolean {
  try {
    const [real, mine, shared] = [realpathSync(root), realpathSync(own), realpathSync(common)]
    if (isWithin(real, mine) && isWithin(real, shared)) return true
    if (!isWithin(shared, mine)) return false
    const named = isThere(join(mine, 'gitdir'))
      ? dirname(resolve(mine, withoutEnd(readFileSync(join(mine, 'gitdir'), 'utf8'))))
      : resolve(mine, worktreeIn(readFileSync(join(mine, 'config'), 'utf8')) ?? '')
    return realpathSync(named) === real
  } catch {
    return false
  }
}

/** The value of `core.worktree`, in the form that git writes into the settings of a submodule. */
const worktreeIn = (config: string) => /^\[core\]\n(?:[ \t].*\n)*?[ \t]*worktree = (.+)$/m.exec(config)?.[1]

/** Returns the folder whose settings, objects and refs a git folder uses; throws if git could not determine it. */
export function commonFolder(own: string): string {
  const shared = join(own, 'commondir')
  return isThere(shared) ? resolve(own, withoutEnd(readFileSync(shared, 'utf8'))) : own
}

/** Parses the file `.git` of a worktree or submodule, which names its real folder; throws if git would not accept the file. */
export function pointer(text: string): string {
  const start = 'gitdir: '
  const path = withoutEnd(text.slice(start.length))
  if (!text.startsWith(start) || path === '') throw new Error('no path of a git folder')
  return path
}

/** Git only removes the end of the line: a path that ends with a blank names another folder. */
const withoutEnd = (text: string) => text.replace(/[\r\n]+$/, '')

/**
 * Whether git may track a file of a project, so that a pull can create or change it. The index is searched for the end of the path,
 * ignoring case, and an index that does not contain its paths literally counts as tracking every file. Starts no process.
 */
export function mayBeTracked(root: string, path: string): boolean {
  const folders = gitFolders(root)
  if (!folders) return false
  const index = join(folders.own, 'index')
  if (!isThere(index)) return false
  try {
    const bytes = readFileSync(index)
    // Since version 4 a path omits the beginning that it shares with the previous path; a split or sparse index omits whole entries.
    if (bytes.readUInt32BE(4) > 3 || ['link', 'sdir'].some((name) => bytes.includes(name))) return true
    const names = bytes.toString('latin1').toLowerCase()
    return [path, relative(root, realpathSync(join(root, path)))]
      .map((name) => Buffer.from(name.split('/').slice(-2).join('/')).toString('latin1').toLowerCase())
      .some((end) => names.includes(`${end}\0`))
  } catch {
    return true
  }
}

/** In addition to HEAD, a repository has at least one of these names. */
const besideHead = ['commondir', 'objects', 'refs', 'config', 'gitdir', 'config.worktree']

/**
 * Whether git could take a folder for a repository although it has no `.git`: a bare one, the git folder of a worktree, or a
 * folder that was made to look like one. Git wants a HEAD, which may be a link that leads nowhere, and objects and refs, which
 * `commondir` and variables may place elsewhere. One of the names beside HEAD is enough here, since the others can follow
 * later. Git ignores a HEAD that is a folder.
 */
export function isGitFolder(folder: string): boolean {
  const head = lookAt(join(folder, 'HEAD'))
  return head !== undefined && !head.isDirectory() && besideHead.some((name) => isThere(join(folder, name)))
}

/** Whether git would accept a folder as a bare repository in its present state. */
export function isBareFolder(folder: string): boolean {
  const isFolder = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true
  try {
    return isGitFolder(folder) && (isThere(join(folder, 'commondir')) || (isFolder('objects') && isFolder('refs')))
  } catch {
    return false
  }
}

/** Whether git also reads objects from another folder. An empty list names none: the sandbox leaves such a file behind. */
export function readsOtherObjects(objects: string): boolean {
  const lists = ['alternates', 'http-alternates'].map((name) => join(objects, 'info', name))
  return lists.some((list) => (statSync(list, { throwIfNoEntry: false })?.size ?? 0) > 0)
}

/** Lists the uncommitted files. Submodules are left out, because git would start itself in each of them, with its settings. */
export const anyChange = ['status', '--porcelain', '--no-renames', '-z', '--ignore-submodules=all'] as const

/** The nested repositories among the entries of `git ls-files -z -s`, one character per byte. */
export function nestedRepositoriesIn(entries: Buffer, root: string): string[] {
  if (!entries.includes('160000 ')) return []
  const links = entries
    .toString('latin1')
    .split('\0')
    .filter((entry) => entry.startsWith('160000 '))
  const paths = links.map((entry) => entry.slice(entry.indexOf('\t') + 1))
  return paths.filter((path) =>
    existsSync(Buffer.from(`${Buffer.from(`${root}/`).toString('latin1')}${path}/.git`, 'latin1')),
  )
}

/** Removes git's variables from an environment: inside a git hook, GIT_DIR or GIT_INDEX_FILE would mislead termaite's git. */
export function withoutGit<E extends Env>(env: E): E {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_'))) as E
}

/** Returns an environment whose git settings override the repository's configuration. */
export function withGitConfig<E extends Env>(
  env: E,
  settings: readonly (readonly [key: string, value: string])[],
): E & Record<string, string | undefined> {
  const from = Number(env.GIT_CONFIG_COUNT ?? 0)
  const added = settings.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${from + i}`, key],
    [`GIT_CONFIG_VALUE_${from + i}`, value],
  ])
  return { ...env, GIT_CONFIG_COUNT: String(from + settings.length), ...Object.fromEntries(added) }
}

/**
 * Returns an environment in which reading a project's repository starts no file monitor and takes no unnecessary lock. Nested
 * repositories that are not submodules are not entered, because their settings are a stranger's.
 */
export function withQuietGit<E extends Env>(env: E, root: string): E & Record<string, string | undefined> {
  const settings: (readonly [string, string])[] = [['core.fsmonitor', 'false']]
  if (!existsSync(join(root, '.gitmodules'))) settings.push(['diff.ignoreSubmodules', 'all'])
  return { ...withGitConfig(env, settings), GIT_OPTIONAL_LOCKS: '0' }
}
