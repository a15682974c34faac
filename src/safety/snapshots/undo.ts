import type { Kept } from './kept.ts'
import type { RawPath } from './paths.ts'
import type { Repository } from './repository.ts'
import type { Move, UndoStep } from './undo-plan.ts'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeObjects } from './objects.ts'
import { onDisk, parentOf, shown } from './paths.ts'
import { workFile } from './repository.ts'
import { Blocked, placeFile, removeFile } from './restore.ts'
import { changesBetween } from './tree-diff.ts'
import { movesBack, stepsOf } from './undo-plan.ts'
import { wereIgnored } from './unignored.ts'

export type Left = { path: string; why: string }

/** What an undo would do, to be shown before it is done. */
export type UndoPlan = {
  turn: Kept
  steps: UndoStep[]
  /** Paths that were changed again after the turn: what is there now is kept aside. */
  conflicts: string[]
  left: Left[]
}

type Way = UndoPlan & { moves: Move[] }

/** The way back over a turn, from the tree as it is now. */
export async function wayBack(repository: Repository, turn: Kept, now: string): Promise<Way> {
  const after = turn.after ?? now
  const [back, renamed, since] = await Promise.all([
    changesBetween(repository, after, turn.before, '--no-renames'),
    changesBetween(repository, after, turn.before, '-M'),
    changesBetween(repository, after, now, '--no-renames'),
  ])
  const { moves, nested } = movesBack(back, since)
  const ignored = await wereIgnored(repository, turn.before, moves)
  const possible = moves.filter((move) => !ignored.has(move.path))
  const left = [
    ...nested.map((path) => ({ path: shown(path), why: 'it is a repository of its own' })),
    ...[...ignored].map((path) => ({ path: shown(path), why: 'it was ignored before the turn, and may be older' })),
  ]
  const conflicts = possible.filter((move) => move.conflict).map((move) => shown(move.path))
  return { turn, steps: stepsOf(possible, renamed), conflicts, left, moves: possible }
}

/** Copies what later changes left at conflicting paths to a folder, where a person finds it. */
export async function keepAside(repository: Repository, moves: readonly Move[], folder: string): Promise<string[]> {
  const found = moves.flatMap(({ path, found, conflict }) => (conflict && found ? [{ path, id: found.id }] : []))
  for (const { path } of found) mkdirSync(onDisk(folder, parentOf(path)), { recursive: true, mode: 0o700 })
  await writeObjects(
    repository,
    found.map(({ path, id }) => ({ id, place: onDisk(folder, path) })),
  )
  return found.map(({ path }) => shown(path))
}

/** Moves the files. All that is needed is read first, so a damaged store or a full disk leaves the tree alone. */
export async function goBack(repository: Repository, moves: readonly Move[]): Promise<Left[]> {
  const drafts = workFile(repository)
  mkdirSync(drafts)
  try {
    const coming = moves.flatMap(({ path, target }, i) =>
      target ? [{ path, target, draft: join(drafts, String(i)) }] : [],
    )
    await writeObjects(
      repository,
      coming.map(({ target, draft }) => ({ id: target.id, place: draft })),
    )
    const left: Left[] = []
    const attempt = (path: RawPath, act: () => void) => {
      try {
        act()
      } catch (error) {
        if (!(error instanceof Blocked)) throw error
        left.push({ path: shown(path), why: error.message })
      }
    }
    // A folder may have to go before a file can take its place, and the other way round.
    for (const { path, target } of moves) if (!target) attempt(path, () => removeFile(repository.root, path))
    for (const { path, target, draft } of coming) attempt(path, () => placeFile(repository.root, path, target, draft))
    return left
  } finally {
    rmSync(drafts, { recursive: true, force: true })
  }
}
