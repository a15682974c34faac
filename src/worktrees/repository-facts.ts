import type { GitSetting } from '../base/git/git-settings.ts'
import type { RepositoryFacts } from '../hub/model/tasks/workspace.ts'
import type { Environment } from './worktree-git.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gitFolders } from '../base/files/git.ts'
import { fileSettings, personSettings } from '../base/git/git-settings.ts'
import { projectGit } from '../base/git/project-git.ts'

/** The longest time for finding the first commits of a history. The facts of a longer history stay unknown. */
const searchMs = 15_000

/** A repository with its checked-out branch and last commit; both are missing if it has no commit. */
type FoundRepository = RepositoryFacts & { branch?: string; commit?: string }

/** Reads the facts that identify a repository; undefined if the folder is not a repository, or has no remote. */
export async function repositoryFacts(env: Environment, root: string): Promise<FoundRepository | undefined> {
  const remote = await remoteOf(env, root)
  const folders = gitFolders(root)
  if (remote === undefined || !folders) return undefined
  const git = projectGit(env)
  const isShallow = existsSync(join(folders.common, 'shallow'))
  const [branch, commit] = await Promise.all([
    git(root, 'rev-parse', '--abbrev-ref', 'HEAD').catch(() => 'HEAD'),
    git(root, 'rev-parse', '--verify', '--quiet', 'HEAD').catch(() => undefined),
  ])
  const first = isShallow ? [] : await firstCommits(env, root, commit)
  return { remote, first, ...(branch === 'HEAD' ? {} : { branch }), ...(commit === undefined ? {} : { commit }) }
}

/** The address of a repository's remote, possibly with a login in it; undefined if there is no repository or no remote. */
export async function remoteOf(env: Environment, root: string): Promise<string | undefined> {
  const folders = existsSync(root) ? gitFolders(root) : undefined
  if (!folders) return undefined
  const [own, person] = await Promise.all([
    fileSettings(join(folders.common, 'config'), env),
    personSettings({ cwd: '/', env }),
  ])
  const named = remoteIn(own)
  return named === undefined ? undefined : written(named, person)
}

/** The address of `origin`, otherwise of the first remote. */
function remoteIn(settings: readonly GitSetting[]): string | undefined {
  const remotes = settings.flatMap(({ key, value }) => {
    const [, name] = /^remote\.(.*)\.url$/s.exec(key) ?? []
    return name === undefined || value === undefined ? [] : [{ name, value }]
  })
  return (remotes.find(({ name }) => name === 'origin') ?? remotes[0])?.value
}

/** The address as the person's own settings expand it, if they contain short names for hosts (`url.<base>.insteadOf`). */
function written(remote: string, settings: readonly GitSetting[]): string {
  const rules = settings.flatMap(({ key, value }) => {
    const [, base] = /^url\.(.*)\.insteadof$/s.exec(key) ?? []
    return base === undefined || value === undefined || !remote.startsWith(value) ? [] : [{ base, short: value }]
  })
  // If several short names match, git uses the longest.
  const best = rules.toSorted((a, b) => b.short.length - a.short.length)[0]
  return best ? best.base + remote.slice(best.short.length) : remote
}

/** The first commits of all known history of the remote and of the checked-out branch, oldest first. */
async function firstCommits(env: Environment, root: string, commit: string | undefined): Promise<string[]> {
  const here = commit === undefined ? [] : [commit]
  const args = ['rev-list', '--max-parents=0', '--timestamp', ...here, '--remotes']
  const { code, out } = await projectGit(env).ran(root, args, { signal: AbortSignal.timeout(searchMs) })
  if (code !== 0) return []
  const found = out
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, at, commit] = /^(\d+) ([0-9a-f]{40,64})$/.exec(line) ?? []
      return commit === undefined ? [] : [{ at: Number(at), commit }]
    })
  return found.toSorted((a, b) => a.at - b.at || (a.commit < b.commit ? -1 : 1)).map(({ commit }) => commit)
}
