/** The properties of a git subcommand that do not depend on its arguments. */
type GitVerb = {
  /** The likely effect; missing for a verb that depends on its arguments, or is unknown. */
  does?: 'reads' | 'edits' | 'reaches' | 'destroys'
  /** Communicates with a remote, usually with the person's keys. */
  remote?: true
  /** Makes commits, and signs them with `-S`. */
  signs?: true
  /** Whether a rule that a person grants can begin with this verb: the words after it cannot name another program to run. */
  grants?: true
}

/**
 * The subcommands of git by their effect: the knowledge for questions and rules. The arguments with which git runs without a sandbox are
 * separate, in `rules/plain-readers.ts`, so that no assumption about an effect lets a command run.
 */
const rows: readonly (GitVerb & { verbs: string })[] = [
  { verbs: 'status log show diff', does: 'reads', grants: true },
  {
    verbs:
      'rev-parse ls-files ls-tree blame annotate describe shortlog cat-file name-rev merge-base rev-list for-each-ref count-objects version help whatchanged check-ignore check-attr diff-tree diff-index diff-files show-ref show-branch cherry range-diff var verify-commit verify-tag fsck grep',
    does: 'reads',
  },
  { verbs: 'add mv switch', does: 'edits', grants: true },
  { verbs: 'merge cherry-pick revert', does: 'edits', signs: true, grants: true },
  { verbs: 'am rebase', does: 'edits', signs: true },
  { verbs: 'init apply notes sparse-checkout format-patch archive bundle', does: 'edits' },
  { verbs: 'commit', signs: true, grants: true },
  { verbs: 'branch checkout restore stash tag worktree', grants: true },
  { verbs: 'pull', does: 'reaches', remote: true, signs: true },
  { verbs: 'clone fetch ls-remote push request-pull', does: 'reaches', remote: true },
  { verbs: 'fetch-pack send-pack', remote: true },
  { verbs: 'remote', does: 'reaches', grants: true },
  { verbs: 'lfs send-email submodule svn', does: 'reaches' },
  { verbs: 'clean filter-branch filter-repo gc pack-refs prune repack replace update-ref', does: 'destroys' },
]

const table: ReadonlyMap<string, GitVerb> = new Map(
  rows.flatMap(({ verbs, ...verb }) => verbs.split(' ').map((name) => [name, verb] as const)),
)

/** The facts about a subcommand; empty for one that is not in the table, which may be an alias for anything. */
export const gitVerb = (name: string): GitVerb => table.get(name) ?? {}

/** The subcommand of a git command and the words after it. */
export function gitWords(words: readonly string[]): { sub: string; rest: readonly string[] } {
  let at = 1
  while (words[at]?.startsWith('-'))
    at += /^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path)$/.test(words[at]!) ? 2 : 1
  return { sub: words[at] ?? '', rest: words.slice(at + 1) }
}
