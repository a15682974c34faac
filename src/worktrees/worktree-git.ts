import type { Git } from '../base/run-git.ts'
import { withGitConfig, withoutGit } from '../base/git.ts'
import { gitWith } from '../base/run-git.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Opens git for the folder that each call names: variables of a git hook that runs us must not lead it to another repository. */
export function worktreeGit(env: Environment, config: readonly (readonly [key: string, value: string])[] = []): Git {
  return gitWith(withGitConfig(withoutGit(env), config))
}

/** Whether a branch is there. */
export const hasBranch = (git: Git, cwd: string, branch: string): Promise<boolean> =>
  git(cwd, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).then(
    () => true,
    () => false,
  )
