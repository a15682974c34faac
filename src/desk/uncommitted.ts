import { collect } from '../base/collect.ts'
import { noMonitor, withGitConfig, withoutGit } from '../base/git.ts'

type Env = Readonly<Record<string, string | undefined>>

/** How many files of a project are not committed; undefined where git has nothing to say. To look runs nothing that a repository names. */
export async function uncommitted(root: string, env: Env): Promise<number | undefined> {
  const plain = { ...withoutGit(env), GIT_OPTIONAL_LOCKS: '0' }
  const filters = (await filterKeys(root, plain)).map((key) => [key, key.endsWith('.required') ? 'false' : ''] as const)
  const inert = withGitConfig(plain, [noMonitor, ['core.hooksPath', '/dev/null'], ...filters])
  // A submodule has a configuration of its own, which ours does not reach.
  const asked = ['status', '--porcelain', '--no-renames', '-z', '--ignore-submodules=all']
  const { code, out } = await collect('git', asked, { cwd: root, env: inert })
  return code === 0 ? out.toString().split('\0').length - 1 : undefined
}

/** What files pass through on their way into a repository by its own configuration; the person's own is theirs. */
async function filterKeys(cwd: string, env: Env): Promise<string[]> {
  const keys = '^filter\\..*\\.(clean|smudge|process|required)$'
  const asked = ['config', '--includes', '--show-scope', '--name-only', '-z', '--get-regexp', keys]
  const { out } = await collect('git', asked, { cwd, env })
  const words = out.toString().split('\0')
  return words.filter((_key, i) => i % 2 === 1 && /^(?:local|worktree)$/.test(words[i - 1]!))
}
