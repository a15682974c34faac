import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Returns the git root of a folder, or the folder itself, as a real path. Starts no process. */
export function projectRoot(cwd: string): string {
  const folder = realpathSync(cwd)
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return folder
  }
}

/** Returns the folder of a project's git index (`own`) and the one that its worktrees share (`common`). */
export function gitFolders(root: string): { own: string; common: string } | undefined {
  try {
    const place = join(root, '.git')
    const own = statSync(place).isDirectory() ? place : resolve(root, pointer(readFileSync(place, 'utf8')))
    const shared = join(own, 'commondir')
    return { own, common: existsSync(shared) ? resolve(own, readFileSync(shared, 'utf8').trim()) : own }
  } catch {
    return undefined
  }
}

/** Reads the file `.git` of a worktree or submodule, which names its real folder. */
function pointer(text: string): string {
  return text.replace(/^gitdir:/, '').trim()
}

/** Lists the uncommitted files. Submodules are left out: git would start itself in each of them, with its settings. */
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
export function withoutGit<E extends Readonly<Record<string, string | undefined>>>(env: E): E {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_'))) as E
}

/** Returns an environment whose git settings override the repository's configuration. */
export function withGitConfig<E extends Readonly<Record<string, string | undefined>>>(
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
 * Returns an environment in which looking at a project's repository starts no file monitor and writes nothing, not even a
 * refreshed index, after which a hook would run. Repositories inside it that are no submodules are not looked into, since
 * their settings are a stranger's. The judge of shell commands relies on it where it calls a git command a read.
 */
export function withQuietGit<E extends Readonly<Record<string, string | undefined>>>(
  env: E,
  root: string,
): E & Record<string, string | undefined> {
  const settings: (readonly [string, string])[] = [
    ['core.fsmonitor', 'false'],
    ['diff.autoRefreshIndex', 'false'],
  ]
  if (!existsSync(join(root, '.gitmodules'))) settings.push(['diff.ignoreSubmodules', 'all'])
  return { ...withGitConfig(env, settings), GIT_OPTIONAL_LOCKS: '0' }
}
