import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The git root of a folder, else the folder itself; a real path, found without a process. */
export function projectRoot(cwd: string): string {
  const folder = realpathSync(cwd)
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return folder
  }
}

/** Where a project's own repository keeps its index (`own`) and what its worktrees share (`common`). */
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

/** A worktree or a submodule has a file `.git` that says where its folder is. */
function pointer(text: string): string {
  return text.replace(/^gitdir:/, '').trim()
}

/** Someone else's GIT_DIR, index or trace must not reach our git: termaite may run inside a hook. */
export function withoutGit<E extends Readonly<Record<string, string | undefined>>>(env: E): E {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_'))) as E
}

/** An environment in which git is set so, whatever a repository's own configuration says. */
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

/** A repository's own configuration may name a program that git asks for changes. */
export const noMonitor = ['core.fsmonitor', 'false'] as const
