/** A git worktree for one agent. `base` is the commit its branch began at; `made` is set once the worktree exists. */
export type Worktree = { path: string; branch: string; base?: string; made?: true }

/** The fate of a worktree whose agent has exited: removed if it held no work, else kept, with the reason. */
type Cleared = { gone: true } | { gone: false; why: string }

/** The worktrees of a crew. `make` and `clear` throw an error whose message can be shown. */
export type Worktrees = {
  /** Names the worktree without making it. */
  plan(name: string): Worktree
  /** Makes the worktree from HEAD and sets it up. Returns the folder in it that corresponds to `cwd`, and notes for the person. */
  make(worktree: Worktree, cwd: string): Promise<{ worktree: Worktree; cwd: string; notes: string[] }>
  /** Makes a worktree again whose folder is gone, from HEAD and on no branch. */
  remake(worktree: Worktree): Promise<void>
  clear(worktree: Worktree): Promise<Cleared>
}
