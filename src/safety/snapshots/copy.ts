import type { Limits } from './limits.ts'
import type { Repository } from './repository.ts'
import type { Rules } from './rules.ts'
import { lstatSync, rmSync } from 'node:fs'
import { onDisk, shown } from './paths.ts'
import { checked, workFile } from './repository.ts'
import { addedTree } from './take.ts'
import { changesBetween } from './tree-diff.ts'
import { goBack } from './undo.ts'
import { movesBack } from './undo-plan.ts'

/** A folder that a tree was written into; it has an index of its own, which tells fast what became of it. */
export type Laid = { tree(): Promise<string>; forget(): void }

/** What was brought back from a copy; nothing of it where it cannot be all of it, and why. */
export type Brought = { files: string[] } | { why: string }

/** Writes a tree into a folder: the very bytes, whatever filters the project has. */
export async function laid(
  repository: Repository,
  rules: Rules,
  limits: Limits,
  { tree, folder, signal }: { tree: string; folder: string; signal: AbortSignal },
): Promise<Laid> {
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
      return addedTree((args, more) => git([...options, ...args], more), folder, limits)
    },
  }
}

/** Brings what became of a copy into the project, unless one of its files changed there as well: all of it or nothing. */
export async function broughtBack(
  repository: Repository,
  trees: { base: string; copy: string; now: string },
): Promise<Brought> {
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
  const [left] = await goBack(repository, moves)
  if (left) return { why: `${left.path}: ${left.why}` }
  return { files: made.map(({ path }) => shown(path)) }
}

function isThere(root: string, path: string): boolean {
  try {
    return lstatSync(onDisk(root, path), { throwIfNoEntry: false }) !== undefined
  } catch {
    // A file stands where its folder would be: that one goes first, or is in the way by its own name.
    return false
  }
}

const named = ([first = '', ...more]: readonly string[]) =>
  more.length === 0 ? shown(first) : `${shown(first)} (and ${more.length} more)`
