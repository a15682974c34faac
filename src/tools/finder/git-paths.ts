import { collect } from '../../base/collect.ts'
import { withoutGit } from '../../base/git.ts'

/** More than that are not listed. */
const mostPaths = 200_000

/** The files of a git project below a folder that are not ignored and are there; none where git has nothing to say. */
export async function gitPaths(
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<string[]> {
  // A repository's own settings may name a program to ask for changes: a list of names runs none.
  const git = (...args: string[]) => ['-c', 'core.fsmonitor=false', 'ls-files', '-z', ...args]
  const own = { ...withoutGit(env), GIT_OPTIONAL_LOCKS: '0' }
  const names = (args: string[]) => named(args, { cwd, env: own, signal })
  const [all, gone] = await Promise.all([names(git('-co', '--exclude-standard')), names(git('-d'))])
  const missing = new Set(gone)
  return missing.size === 0 ? all : all.filter((path) => !missing.has(path))
}

/** Read as they come, so that a long list is never cut up in one go. */
async function named(args: string[], options: Pick<Parameters<typeof collect>[2], 'cwd' | 'env' | 'signal'>) {
  const names: string[] = []
  const decoder = new TextDecoder()
  let rest = ''
  const enough = (chunk: Uint8Array) => {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\0')
    rest = parts.pop()!
    names.push(...parts)
    return names.length >= mostPaths
  }
  await collect('git', args, { ...options, enough })
  return names
}
