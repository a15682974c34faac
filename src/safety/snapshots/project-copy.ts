import type { Limits } from './retention.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import type { CopyChanges, CopyJoin, CopyResult } from '../../hub/model/tasks/project-copy.ts'
import type { RawPath, Repository } from './snapshot-repository.ts'
import type { Change, Item } from './tree-diff.ts'
import type { Move } from './undo-plan.ts'
import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { checked, onDisk, readablePath, workFile } from './snapshot-repository.ts'
import { addedTree } from './tree-taker.ts'
import { briefDiff, changesBetween } from './tree-diff.ts'
import { writeObjects } from './git-objects.ts'
import { copyConflicts, restoreFiles } from './file-restore.ts'
import { defined } from '../../base/defined.ts'
import { movesBack } from './undo-plan.ts'

/** A folder into which a tree was checked out. Its own index makes it fast to find the changes there. */
type CheckedOutCopy = { tree(): Promise<string>; forget(): void }

/** Checks a tree out into a folder, byte for byte, whatever filters the project has. */
export async function checkOutCopy(
  repository: Repository,
  rules: IgnoreRules,
  limits: Limits,
  { tree, folder, signal }: { tree: string; folder: string; signal: AbortSignal },
): Promise<CheckedOutCopy> {
  const index = workFile(repository)
  const git: Repository['git'] = (args, more) => repository.git(args, { index, tree: folder, ...more })
  const forget = () => [index, `${index}.lock`].forEach((path) => rmSync(path, { force: true }))
  try {
    checked(await git(['read-tree', tree], { signal }))
    checked(await git(['checkout-index', '--all', '--index', '--quiet'], { signal }))
  } catch (error) {
    forget()
    throw error
  }
  return {
    forget,
    async tree() {
      const options = await rules.refresh()
      return addedTree(repository, (args, more) => git([...options, ...args], more), folder, limits)
    },
  }
}

/** A longer patch is cut: a screen and a model show no more of it. */
const longestPatch = 1024 * 1024

/** The changes between the tree with which a copy began and a later tree of it. */
export async function copyChanges(repository: Repository, base: string, tree: string): Promise<CopyChanges> {
  const [made, { stat, patch }] = await Promise.all([
    changesBetween(repository, base, tree, '--no-renames'),
    briefDiff(repository, base, tree, longestPatch),
  ])
  const files = stat.map(({ file, added, removed, binary }) =>
    binary ? { path: file } : { path: file, added, removed },
  )
  return { paths: made.map(({ path }) => readablePath(path)), files, patch, base, tree }
}

/**
 * Joins changes of a copy into the project: all of them, or none if one is impossible. A file that was changed on both sides is merged;
 * if the same lines were changed, the file is a conflict.
 */
export async function bringBack(
  repository: Repository,
  trees: { base: string; copy: string; now: string },
  { only, over = [], aside }: Pick<CopyJoin, 'only' | 'over'> & { aside: string },
): Promise<CopyResult> {
  const [all, since] = await Promise.all([
    changesBetween(repository, trees.base, trees.copy, '--no-renames'),
    changesBetween(repository, trees.base, trees.now, '--no-renames'),
  ])
  const made = only ? all.filter(({ path }) => only.includes(readablePath(path))) : all
  const { moves, nested } = movesBack(made, since)
  if (nested.length > 0) return { why: `${named(nested)} is a repository of its own` }
  const conflicts = await mergeMoves(repository, moves, made, over)
  if (conflicts.length > 0)
    return { why: `${named(conflicts)} changed in the project meanwhile`, conflicts: conflicts.map(readablePath) }
  const hidden = moves.filter(({ path, found }) => !found && isThere(repository.root, path)).map(({ path }) => path)
  if (hidden.length > 0) return { why: `${named(hidden)} is in the project, and ignored there` }
  const replaced = moves.filter(({ path, conflict }) => conflict && over.includes(readablePath(path)))
  const saved = await copyConflicts(repository, replaced, aside)
  const left = await restoreFiles(repository, moves)
  if (left.length === 0)
    return defined({ files: made.map(({ path }) => readablePath(path)), aside: saved.length > 0 ? aside : undefined })
  const stuck = new Set(left.map(({ path }) => path))
  const done = moves.filter(({ path }) => !stuck.has(readablePath(path)))
  await restoreFiles(
    repository,
    done.map(({ path, target, found }) => ({ path, target: found, found: target, conflict: false })),
  )
  return { why: `${left[0]!.path}: ${left[0]!.why}` }
}

/** Sets the merged contents for every move of a file that changed on both sides; returns the paths that cannot be merged. */
async function mergeMoves(
  repository: Repository,
  moves: Move[],
  made: readonly Change[],
  over: readonly string[],
): Promise<RawPath[]> {
  const began = new Map(made.map(({ path, from }) => [path, from]))
  const conflicts: RawPath[] = []
  for (const move of moves) {
    const { path, target, found, conflict } = move
    if (!conflict || over.includes(readablePath(path))) continue
    const merged = await mergedItem(repository, { base: began.get(path), target, found })
    if (merged) move.target = merged
    else conflicts.push(path)
  }
  return conflicts
}

type Sides = { base?: Item; target?: Item; found?: Item }

/** Merges the two changed versions of a text file; undefined if it is not a text file, or if both changed the same lines. */
async function mergedItem(repository: Repository, { base, target, found }: Sides): Promise<Item | undefined> {
  const sides = [found, base, target]
  if (!base || !target || !found || !sides.every((side) => side?.mode.startsWith('100'))) return undefined
  const folder = workFile(repository)
  mkdirSync(folder)
  try {
    const places = ['project', 'before', 'copy'].map((name) => join(folder, name))
    await writeObjects(
      repository,
      [found, base, target].map(({ id }, i) => ({ id, place: places[i]! })),
    )
    const merged = await repository.git(['merge-file', '-p', '-q', ...places])
    if (merged.code !== 0) return undefined
    const written = checked(await repository.git(['hash-object', '-w', '--stdin'], { input: merged.out }))
    return { mode: found.mode === base.mode ? target.mode : found.mode, id: written.out.toString().trim() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function isThere(root: string, path: string): boolean {
  try {
    return lstatSync(onDisk(root, path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // A file is in the place of a parent folder: it is deleted first, or reported under its own name.
    return false
  }
}

const named = ([first = '', ...more]: readonly string[]) =>
  more.length === 0 ? readablePath(first) : `${readablePath(first)} (and ${more.length} more)`
