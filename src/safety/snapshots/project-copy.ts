import type { Limits } from './retention.ts'
import type { Repository } from './snapshot-repository.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { lstatSync, rmSync } from 'node:fs'
import { checked, onDisk, readablePath, workFile } from './snapshot-repository.ts'
import { addedTree } from './tree-taker.ts'
import { changesBetween } from './tree-diff.ts'
import { restoreFiles } from './file-restore.ts'
import { movesBack } from './undo-plan.ts'

/** A folder that a tree was checked out into. Its own index makes it fast to see what changed there. */
export type CheckedOutCopy = { tree(): Promise<string>; forget(): void }

/** The files that were brought back from a copy, or why none were. */
export type CopyResult = { files: string[] } | { why: string }

/** Checks a tree out into a folder, byte for byte, whatever filters the project has. */
export async function checkOutCopy(
  repository: Repository,
  rules: IgnoreRules,
  limits: Limits,
  { tree, folder, signal }: { tree: string; folder: string; signal: AbortSignal },
): Promise<CheckedOutCopy> {
  const index = workFile(repository)
  const git: Repository['git'] = (args, more) => repository.git(args, { index, tree: folder, signal, ...more })
  const forget = () => [index, `${index}.lock`].forEach((path) => rmSync(path, { force: true }))
  try {
    checked(await git(['read-tree', tree]))
    checked(await git(['checkout-index', '--all', '--index', '--quiet']))
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

/** Brings the changes of a copy into the project: all of them, or none when one of the files changed in the project too. */
export async function bringBack(
  repository: Repository,
  trees: { base: string; copy: string; now: string },
): Promise<CopyResult> {
  const [made, since] = await Promise.all([
    changesBetween(repository, trees.base, trees.copy, '--no-renames'),
    changesBetween(repository, trees.base, trees.now, '--no-renames'),
  ])
  const { moves, nested } = movesBack(made, since)
  if (nested.length > 0) return { why: `${named(nested)} is a repository of its own` }
  const changed = moves.filter(({ conflict }) => conflict).map(({ path }) => path)
  if (changed.length > 0) return { why: `${named(changed)} changed in the project meanwhile` }
  const hidden = moves.filter(({ path, found }) => !found && isThere(repository.root, path)).map(({ path }) => path)
  if (hidden.length > 0) return { why: `${named(hidden)} is in the project, and ignored there` }
  const [left] = await restoreFiles(repository, moves)
  if (left) return { why: `${left.path}: ${left.why}` }
  return { files: made.map(({ path }) => readablePath(path)) }
}

function isThere(root: string, path: string): boolean {
  try {
    return lstatSync(onDisk(root, path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // A file stands where a parent folder belongs: it is deleted first, or reported under its own name.
    return false
  }
}

const named = ([first = '', ...more]: readonly string[]) =>
  more.length === 0 ? readablePath(first) : `${readablePath(first)} (and ${more.length} more)`
