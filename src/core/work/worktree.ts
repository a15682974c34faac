/** A git worktree for one agent. `base` is the commit from which its branch began; `made` is set once the worktree exists. */
export type Worktree = { path: string; branch: string; base?: string; made?: true }

/** The fate of a worktree whose agent has exited: removed if it held no work, else kept, with the reason. */
type Cleared = { gone: true } | { gone: false; why: string }

/** The worktrees of a crew. `make` and `clear` throw an error whose message can be shown. */
export type Worktrees = {
  /** Names the worktree without creating it. */
  plan(name: string): Worktree
  /** Creates the worktree from HEAD and sets it up. Returns the folder in it that corresponds to `cwd`, and notes for the person. */
  make(worktree: Worktree, cwd: string): Promise<{ worktree: Worktree; cwd: string; notes: string[] }>
  /** Creates a worktree again whose folder is missing, from HEAD and on no branch. */
  remake(worktree: Worktree): Promise<void>
  clear(worktree: Worktree): Promise<Cleared>
}
