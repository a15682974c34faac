/** `branch` began at `base`; `made` says that it is there. */
export type Worktree = { path: string; branch: string; base?: string; made?: true }

/** What becomes of a worktree once its agent is gone: taken away when nothing is in it, else kept, and `why`. */
export type Cleared = { gone: true } | { gone: false; why: string }

/** The verbs of git that a crew needs; both may throw words. */
export type Worktrees = {
  /** Where it would be. */
  plan(name: string): Worktree
  /** Makes it from HEAD, sets it up, and says where `cwd` is in it, and what is worth saying. */
  make(worktree: Worktree, cwd: string): Promise<{ worktree: Worktree; cwd: string; notes: string[] }>
  clear(worktree: Worktree): Promise<Cleared>
}
