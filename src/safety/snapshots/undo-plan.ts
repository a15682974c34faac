import type { RawPath, Repository } from './snapshot-repository.ts'
import type { Change, Item } from './tree-diff.ts'
import type { TurnRecord } from './turn-records.ts'
import { mkdirSync, rmSync } from 'node:fs'
import { checked, onDisk, parentOf, readablePath, splitPaths, workFile } from './snapshot-repository.ts'
import { changesBetween } from './tree-diff.ts'
import { writeObjects } from './git-objects.ts'
import { defined } from '../../base/defined.ts'

/** One path to restore: `target` is its wanted content (undefined: delete it), `found` its present content. */
export type Move = { path: RawPath; target?: Item; found?: Item; conflict: boolean }

/** A path that was not restored, and why. */
export type SkippedPath = { path: string; why: string }

export type UndoStep = {
  action: 'restore' | 'delete' | 'rename'
  path: string
  /** The old name of a renamed file. */
  to?: string
  /** Set if the file was changed again after the turn: a copy of it is kept. */
  conflict?: true
}

/** The steps of an undo, to be shown before it runs. */
export type UndoPlan = {
  turn: TurnRecord
  steps: UndoStep[]
  /** Paths that were changed again after the turn: copies of them are kept. */
  conflicts: string[]
  left: SkippedPath[]
}

type PlannedUndo = UndoPlan & { moves: Move[] }

/** Compares the trees around a turn with the tree `now`, and plans how to restore the files that the turn changed. */
export async function planUndo(repository: Repository, turn: TurnRecord, now: string): Promise<PlannedUndo> {
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
    ...nested.map((path) => ({ path: readablePath(path), why: 'it is a repository of its own' })),
    ...[...ignored].map((path) => ({
      path: readablePath(path),
      why: 'it was ignored before the turn, and may be older',
    })),
    ...(turn.uncopied ?? []).map((path) => ({ path, why: 'files with keys are ignored, and no copy of them is kept' })),
  ]
  const conflicts = possible.filter((move) => move.conflict).map((move) => readablePath(move.path))
  return { turn, steps: stepsOf(possible, renamed), conflicts, left, moves: possible }
}

const nested = '160000'

/** Lists the moves that restore every path in `back`, given the changes `since`; nested repositories cannot be moved. */
export function movesBack(back: readonly Change[], since: readonly Change[]): { moves: Move[]; nested: RawPath[] } {
  const later = new Map(since.map((change) => [change.path, change]))
  const moves: Move[] = []
  const repositories: RawPath[] = []
  const links = back.filter(({ to }) => to?.mode === nested).map(({ path }) => `${path}/`)
  for (const { path, from, to } of back) {
    // Files of a repository that lost its .git were not made by a turn: they are not deleted.
    if (links.some((link) => path.startsWith(link))) continue
    const again = later.get(path)
    const found = again ? again.to : from
    if (same(found, to)) continue
    if ([from, to, found].some((item) => item?.mode === nested)) repositories.push(path)
    else moves.push({ path, target: to, found, conflict: again !== undefined })
  }
  return { moves, nested: repositories }
}

/** Turns moves into steps for a person: a renamed file is one step, not a deletion and a restore. */
function stepsOf(moves: readonly Move[], renamed: readonly Change[]): UndoStep[] {
  const open = new Map(moves.map((move) => [move.path, move]))
  const renames = renamed.flatMap(({ path, was }): UndoStep[] => {
    const goes = was === undefined ? undefined : open.get(was)
    const comes = open.get(path)
    if (!goes || !comes || goes.target || !comes.target) return []
    open.delete(goes.path)
    open.delete(path)
    const conflict = goes.conflict || comes.conflict || undefined
    return [defined({ action: 'rename', path: readablePath(goes.path), to: readablePath(path), conflict })]
  })
  const rest = [...open.values()].map((move): UndoStep => {
    const action = move.target ? 'restore' : 'delete'
    return defined({ action, path: readablePath(move.path), conflict: move.conflict || undefined })
  })
  return [...renames, ...rest].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function same(a: Item | undefined, b: Item | undefined): boolean {
  return a?.mode === b?.mode && a?.id === b?.id
}

/**
 * Finds files to delete that only look new: if a turn changes a .gitignore, ignored files that existed before it become visible. They are
 * checked against the .gitignore files from before the turn.
 */
async function wereIgnored(repository: Repository, before: string, moves: readonly Move[]): Promise<Set<RawPath>> {
  const going = moves.filter(({ target }) => !target).map(({ path }) => path)
  if (going.length === 0) return new Set()
  const tree = workFile(repository)
  mkdirSync(tree)
  try {
    const rules = await rulesIn(repository, before)
    for (const { path } of rules) mkdirSync(onDisk(tree, parentOf(path)), { recursive: true })
    await writeObjects(
      repository,
      rules.map(({ path, id }) => ({ id, place: onDisk(tree, path) })),
    )
    // With "./" in front, git does not treat a name that begins with a colon as a pattern.
    const input = Buffer.from(going.map((path) => `./${path}\0`).join(''), 'latin1')
    const ran = await repository.git(['check-ignore', '--no-index', '-z', '--stdin'], { tree, input })
    return new Set(splitPaths(checked(ran, [0, 1]).out).map((path) => path.slice(2)))
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

async function rulesIn(repository: Repository, tree: string): Promise<{ path: RawPath; id: string }[]> {
  const { out } = checked(await repository.git(['ls-tree', '-r', '-z', tree]))
  return splitPaths(out).flatMap((line) => {
    const [mode = '', , id = ''] = line.split(/[ \t]/, 3)
    const path = line.slice(line.indexOf('\t') + 1)
    return isRules(path) && mode.startsWith('100') ? [{ path, id }] : []
  })
}

const isRules = (path: RawPath) => path === '.gitignore' || path.endsWith('/.gitignore')
