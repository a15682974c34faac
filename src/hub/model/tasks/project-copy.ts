import type { FileChange } from './task-changes.ts'
import { isInScope } from '../../../core/data/path-scope.ts'

/**
 * The changes in a copy of the project at one moment. `paths` names every file that was created, changed or deleted, so a renamed file
 * appears twice; `files` and `patch` show it once, under its new name. All paths are relative to the root of the project.
 */
export type CopyChanges = {
  paths: readonly string[]
  files: readonly FileChange[]
  patch: string
  /**
   * The snapshot that the copy began with, and the snapshot from which these changes were read. Both are kept for a day after the copy.
   */
  base: string
  tree: string
  /**
   * Files that are back at their last commit, although they had uncommitted changes when the copy was made. A stash or a checkout in the
   * copy does that, and joining it would undo the person's own work in the project.
   */
  reverted?: readonly string[]
  /** Links that lead out of the copy. */
  leadingOut?: readonly string[]
  /** Files that can make programs start by themselves: settings of agents, editors and git. */
  settings?: readonly string[]
  /** Changes of the repository itself: commits, branches, stashes. */
  notes?: readonly string[]
}

/** A change in a copy that is not joined without a person's consent, and the reason. */
export type Stray = { path: string; why: string }

/** The changes in a copy that the work did not need: changes outside its scope, and changes that no work may make by itself. */
export function straysIn(
  { paths, reverted = [], leadingOut = [], settings = [] }: CopyChanges,
  scope?: readonly string[],
): Stray[] {
  return paths.flatMap((path): Stray[] => {
    if (scope && !isInScope(path, scope)) return [{ path, why: 'outside of its scope' }]
    if (reverted.includes(path)) return [{ path, why: 'takes back changes that are not committed' }]
    if (leadingOut.includes(path)) return [{ path, why: 'a link that leads out of the project' }]
    return settings.includes(path) ? [{ path, why: 'programs could start from it by themselves' }] : []
  })
}

/**
 * The files that were joined into the project, or the reason why none was. `aside`: the folder with the project's own versions of
 * replaced files that both sides had changed. `conflicts`: the files that both sides changed in the same lines.
 */
export type CopyResult = { files: readonly string[]; aside?: string } | { why: string; conflicts?: readonly string[] }

/**
 * `changes`: joins exactly these changes, whatever was changed in the copy since. `only`: leaves all other paths in the copy. `over`:
 * paths whose contents in the copy replace those of the project although both sides changed them.
 */
export type CopyJoin = { changes?: CopyChanges; only?: readonly string[]; over?: readonly string[] }

/** A copy of the project as it was when the copy was made, uncommitted changes included. */
export type ProjectCopy = {
  root: string
  /** The folder in the copy that corresponds to the working folder. */
  cwd: string
  /** The files that the copy lacks, as text for the agent that works in the copy. */
  lacks: string
  /** Reads the changes made in the copy so far; nothing is joined. */
  changed(): Promise<CopyChanges>
  /** Joins the wanted changes into the project: all of them, or none. */
  join(wanted?: CopyJoin): Promise<CopyResult>
  /** Keeps the copy on the disk for a day, so that a person can look at it; never rejects. */
  keep(): Promise<void>
  /** Removes the copy at once; never rejects. */
  drop(): Promise<void>
}

/** Makes copies of the project. `open` rejects with the reason if it cannot. */
export type ProjectCopies = { open(signal: AbortSignal): Promise<ProjectCopy> }

/** The files of the project itself: `changed` names the files that differ from their state at a mark. */
export type ProjectTree = { mark(): Promise<string | undefined>; changed(mark: string): Promise<string[]> }

/** The text that tells an agent about the copy in which it works. */
export const copyWords = (lacks: string): string =>
  `Your working folder is a copy of the project, for this task alone. ${lacks} The files that you change are brought into the project when you are done, and the copy is removed: change nothing outside of it, and do not commit, stash or check out anything there.`
