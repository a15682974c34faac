import type { Clock } from '../base/clock.ts'
import type { Brought } from './snapshots/copy.ts'
import type { Kept } from './snapshots/kept.ts'
import type { Limits } from './snapshots/limits.ts'
import type { Env } from './snapshots/repository.ts'
import type { Diff, FileStat } from './snapshots/tree-diff.ts'
import type { Left, UndoPlan } from './snapshots/undo.ts'
import type { UndoStep } from './snapshots/undo-plan.ts'
import { existsSync, rmSync } from 'node:fs'
import { wordsOf } from '../base/words.ts'
import { realClock } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import { Camera } from './snapshots/camera.ts'
import { broughtBack, laid } from './snapshots/copy.ts'
import { holdsHome, isWithin, isWorktree, ourHome } from './snapshots/homes.ts'
import { KeptTurns, lastStanding } from './snapshots/kept.ts'
import { usualLimits } from './snapshots/limits.ts'
import { shown } from './snapshots/paths.ts'
import { RecentTrees } from './snapshots/recent.ts'
import { Off, openRepository } from './snapshots/repository.ts'
import { ignoreRules } from './snapshots/rules.ts'
import { asideFolder, isDue, tidy } from './snapshots/tidy.ts'
import { briefDiff, changesBetween, diffTrees, statTrees } from './snapshots/tree-diff.ts'
import { goBack, keepAside, wayBack } from './snapshots/undo.ts'

export type { Brought, Diff, FileStat, Kept, Left, Limits, UndoPlan, UndoStep }
export { lastStanding, Off }

export type Taken = { tree: string } | { off: string }

/** What an undo did: its own turn, by which it can be undone; what it left, and where later changes are kept. */
export type Undone = { turn: string; left: Left[]; aside?: { folder: string; files: string[] } }

/** A copy of the project, until it is forgotten; `back` brings what became of it into the project, all of it or nothing. */
export type Copy = { back(): Promise<Brought>; forget(): void }

/** Whoever judges what was done reads no further. */
const longestPatch = 256 * 1024

/** Trees of the project around turns, in a repository of our own. Rejects with `Off` where the person should know why. */
export interface Snapshots {
  /** The project's files as they are now; never rejects. */
  take(): Promise<Taken>
  /** Keeps a turn; again with `after` once it is over. */
  keep(turn: string, trees: Omit<Kept, 'turn'>): Promise<void>
  /** Oldest first. */
  list(): Promise<Kept[]>
  /** What a turn changed. */
  diff(turn: string): Promise<Diff>
  /** The same without the text. */
  stat(turn: string): Promise<FileStat[]>
  /** The files that changed since a tree was taken, until now or until another was. */
  changed(before: string, after?: string): Promise<string[]>
  /** What changed since a tree was taken, and the tree as it is now; a long patch is cut. */
  since(tree: string): Promise<Diff & { tree: string }>
  /** Puts the files back as they were in a tree, without a turn of its own; what changed after `seen` was taken is left. */
  back(tree: string, seen?: string): Promise<Left[]>
  /** Writes the project's files as they are now into a folder that holds none; what git ignores is not among them. */
  copy(folder: string, signal: AbortSignal): Promise<Copy>
  /** What taking a turn back would do. */
  planUndo(turn: string): Promise<UndoPlan>
  undo(plan: UndoPlan): Promise<Undone>
  /** Deletes everything in it. */
  clear(): Promise<void>
}

export type SnapshotOptions = {
  /** `<home>/projects/<slug>/snapshots`; made when it is first needed. */
  dir: string
  root: string
  env: Env
  limits?: Partial<Limits>
  clock?: Clock
}

export function snapshots({ dir, root, env, clock = realClock, ...options }: SnapshotOptions): Snapshots {
  const limits = { ...usualLimits, ...options.limits }
  let opened: ReturnType<typeof open> | undefined
  const open = () => {
    const repository = openRepository(dir, root, env)
    const shelves = { repository, turns: new KeptTurns(dir), recent: new RecentTrees(dir), limits }
    return { ...shelves, camera: new Camera(repository, limits, clock) }
  }
  const store = () => (opened ??= open())

  const now = async (): Promise<string> => {
    if (holdsHome(root, env)) throw new Off('the project is a home folder, or holds one')
    if (isWithin(root, ourHome(dir)) && !isWorktree(root, dir)) throw new Off("this is termaite's own home")
    if (!existsSync(root)) throw new Off('the project folder is gone')
    const tree = await store().camera.take()
    store().recent.add(tree, clock.now())
    return tree
  }
  const find = (turn: string): Kept => {
    const found = store()
      .turns.list()
      .find((kept) => kept.turn === turn)
    if (found) return found
    throw new Off(`no turn ${turn} is kept for this project`)
  }

  return {
    async take() {
      try {
        return { tree: await now() }
      } catch (error) {
        return { off: wordsOf(error) }
      }
    },
    async keep(turn, trees) {
      store().turns.put({ turn, ...trees })
      // A store that could not be tidied still works, and the turn is kept.
      if (isDue(store(), clock.now())) await tidy(store(), clock.now()).catch(() => {})
    },
    async list() {
      // A look at a project that was never used leaves nothing behind.
      return existsSync(dir) ? store().turns.list() : []
    },
    async diff(turn) {
      const { before, after } = find(turn)
      return diffTrees(store().repository, before, after ?? (await now()))
    },
    async stat(turn) {
      const { before, after } = find(turn)
      return statTrees(store().repository, before, after ?? (await now()))
    },
    async changed(before, after) {
      const changes = await changesBetween(store().repository, before, after ?? (await now()), '--no-renames')
      return changes.map(({ path }) => shown(path))
    },
    async since(tree) {
      const to = await now()
      return { ...(await briefDiff(store().repository, tree, to, longestPatch)), tree: to }
    },
    async back(tree, seen) {
      const { repository } = store()
      const span = {
        turn: '',
        before: tree,
        at: clock.now(),
        prompt: '',
        ...(seen === undefined ? {} : { after: seen }),
      }
      const { moves, left } = await wayBack(repository, span, await now())
      const again = moves.filter(({ conflict }) => conflict)
      left.push(...again.map(({ path }) => ({ path: shown(path), why: 'it was changed again since' })))
      left.push(
        ...(await goBack(
          repository,
          moves.filter(({ conflict }) => !conflict),
        )),
      )
      return left
    },
    async copy(folder, signal) {
      const base = await now()
      const { repository } = store()
      const rules = ignoreRules(repository, ourHome(dir))
      const { tree, forget } = await laid(repository, rules, limits, { tree: base, folder, signal })
      return {
        forget,
        async back() {
          const copy = await tree()
          store().recent.add(copy, clock.now())
          return broughtBack(repository, { base, copy, now: await now() })
        },
      }
    },
    async planUndo(turn) {
      const { moves: _, ...plan } = await wayBack(store().repository, find(turn), await now())
      return plan
    },
    async undo({ turn }) {
      const { repository, turns } = store()
      const before = await now()
      const { moves, left } = await wayBack(repository, turn, before)
      const at = clock.now()
      const undo: Kept = { turn: newId(at), before, at, prompt: `undo: ${turn.prompt}`, undoes: turn.turn }
      turns.put(undo)
      const folder = asideFolder(dir, undo.turn)
      const files = await keepAside(repository, moves, folder)
      left.push(...(await goBack(repository, moves)))
      turns.put({ ...undo, after: await now() })
      return { turn: undo.turn, left, ...(files.length > 0 ? { aside: { folder, files } } : {}) }
    },
    async clear() {
      opened = undefined
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
