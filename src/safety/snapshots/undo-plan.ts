import type { RawPath } from './paths.ts'
import type { Change, Item } from './tree-diff.ts'
import { shown } from './paths.ts'

/** One path on its way back: `target` is what should be there, nothing when it is to go; `found` is what is there now. */
export type Move = { path: RawPath; target?: Item; found?: Item; conflict: boolean }

export type UndoStep = {
  action: 'restore' | 'delete' | 'rename'
  path: string
  /** The name it gets back. */
  to?: string
  /** It was changed again after the turn: what is there now is kept aside. */
  conflict?: true
}

const nested = '160000'

/** What has to move so that every path a turn changed is as it was before, given what changed after the turn. */
export function movesBack(back: readonly Change[], since: readonly Change[]): { moves: Move[]; nested: RawPath[] } {
  const later = new Map(since.map((change) => [change.path, change]))
  const moves: Move[] = []
  const repositories: RawPath[] = []
  for (const { path, from, to } of back) {
    const again = later.get(path)
    const found = again ? again.to : from
    if (same(found, to)) continue
    if ([from, to, found].some((item) => item?.mode === nested)) repositories.push(path)
    else moves.push({ path, ...(to ? { target: to } : {}), ...(found ? { found } : {}), conflict: again !== undefined })
  }
  return { moves, nested: repositories }
}

/** The moves as a person thinks of them: a renamed file is one step, not a loss and a find. */
export function stepsOf(moves: readonly Move[], renamed: readonly Change[]): UndoStep[] {
  const open = new Map(moves.map((move) => [move.path, move]))
  const renames = renamed.flatMap(({ path, was }): UndoStep[] => {
    const goes = was === undefined ? undefined : open.get(was)
    const comes = open.get(path)
    if (!goes || !comes || goes.target || !comes.target) return []
    open.delete(goes.path)
    open.delete(path)
    return [{ action: 'rename', path: shown(goes.path), to: shown(path), ...mark(goes.conflict || comes.conflict) }]
  })
  const rest = [...open.values()].map((move): UndoStep => {
    return { action: move.target ? 'restore' : 'delete', path: shown(move.path), ...mark(move.conflict) }
  })
  return [...renames, ...rest].sort((a, b) => (a.path < b.path ? -1 : 1))
}

const mark = (conflict: boolean): { conflict?: true } => (conflict ? { conflict } : {})

function same(a: Item | undefined, b: Item | undefined): boolean {
  return a?.mode === b?.mode && a?.id === b?.id
}
