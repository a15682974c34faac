import type { Clock } from '../../base/time/clock.ts'
import type { CopyChanges, CopyJoin, CopyResult } from '../../hub/model/tasks/project-copy.ts'
import type { TurnRecord } from './turn-records.ts'
import type { Limits } from './retention.ts'
import type { Env } from './snapshot-repository.ts'
import type { Diff, FileStat } from './tree-diff.ts'
import type { SkippedPath, UndoPlan, UndoStep } from './undo-plan.ts'
import { existsSync, rmSync } from 'node:fs'
import { realClock } from '../../base/time/clock.ts'
import { TurnRecords, lastRedoable, lastUndoable, undoPrompt } from './turn-records.ts'
import {
  RecentTrees,
  asideFolder,
  beginStore,
  cleanUp,
  isCleanupDue,
  requestCleanup,
  usualLimits,
} from './retention.ts'
import { NoRoom, SnapshotsOff, openRepository, readablePath, splitPaths } from './snapshot-repository.ts'
import { changedMarks, secretFileMarks } from './uncopied-files.ts'
import { messageOf } from '../../base/error-message.ts'
import { newId } from '../../base/id.ts'
import { TreeTaker } from './tree-taker.ts'
import { isLarge } from './person-index.ts'
import { containsHome, ignoreRules, isWithin, isWorktree, ourHome } from './ignore-rules.ts'
import { defined } from '../../base/defined.ts'

export type { Diff, FileStat, TurnRecord, SkippedPath, Limits, UndoPlan, UndoStep }
export { lastRedoable, lastUndoable, SnapshotsOff }

/**
 * A tree with the repositories inside the project, of which it only has the commit, or the reason why no tree could be taken. `passing`:
 * the cause may disappear by itself, for example on a full disk.
 */
export type TakeResult = { tree: string; nested?: readonly string[] } | { off: string; passing?: true }

/**
 * The result of an undo: its own turn, by which it can be undone; the skipped paths; and the place of the copies of overwritten files.
 */
export type UndoResult = { turn: string; left: SkippedPath[]; aside?: { folder: string; files: string[] } }

/** The files of the project in another folder. `forget` removes the index by which its changes are found. */
type CopiedFiles = {
  /** Makes the present files count as unchanged: the preparation of the copy is not work to join. */
  begin(): Promise<void>
  changed(): Promise<CopyChanges>
  bringBack(wanted?: CopyJoin): Promise<CopyResult>
  forget(): void
}

/** The most bytes of a patch that are shown to a model which judges changes. */
const longestPatch = 256 * 1024

/**
 * Trees of the project before and after turns, in a repository of our own. Rejects with `SnapshotsOff` to tell the person why
 * no tree can be taken.
 */
export interface Snapshots {
  /** Takes a tree of the project's present files; never rejects. */
  take(): Promise<TakeResult>
  /** Whether the whole project was copied before: the next tree then only reads changes and is fast. */
  readonly copied: boolean
  /** Whether the project is so large that copying it takes long. */
  large(): Promise<boolean>
  /** Copies a large project before the first turn needs the copy; a small one is copied quickly enough then. Never rejects. */
  prepare(): Promise<void>
  /** Stops the work in the background. No tree can be taken afterwards. */
  stop(): void
  /** Records a turn; called again with `after` when the turn is over. */
  keep(turn: string, trees: Omit<TurnRecord, 'turn'>): Promise<void>
  /** Lists the recorded turns, oldest first. */
  list(): Promise<TurnRecord[]>
  /** Whether an undo or a redo was recorded after the turn with this id began. */
  undoneSince(turn: string): Promise<boolean>
  /** The patch and file statistics of a turn. `below`: the folder that the patch adds before each path. */
  diff(turn: string, below?: string): Promise<Diff>
  /** The file statistics of a turn. */
  stat(turn: string): Promise<FileStat[]>
  /** The files that differ between the tree `before` and the tree `after`, or the present state. */
  changed(before: string, after?: string): Promise<string[]>
  /** The changes since a tree was taken, with a long patch cut, and the present tree. */
  since(tree: string, below?: string): Promise<Diff & { tree: string }>
  /** Restores the files of a tree without recording a turn; skips files that changed after the tree `seen` was taken. */
  restore(tree: string, seen?: string): Promise<SkippedPath[]>
  /** Copies the project's present files, except ignored ones, into an empty folder. */
  copy(folder: string, signal: AbortSignal): Promise<CopiedFiles>
  /** Reads the changes of a removed copy, from the snapshots in its `CopyChanges`. */
  copyChanges(base: string, tree: string): Promise<CopyChanges>
  /** Joins such changes into the project, like `join` of the copy. */
  bringIn(changes: Pick<CopyChanges, 'base' | 'tree'>, wanted?: Pick<CopyJoin, 'only' | 'over'>): Promise<CopyResult>
  /** Plans how to undo a turn. */
  planUndo(turn: string): Promise<UndoPlan>
  /** Undoes a turn. `as`: the name of the undo, if it is a part of another one. */
  undo(plan: UndoPlan, as?: string): Promise<UndoResult>
  /** Deletes the snapshots of turns, and those of the undos of these turns. */
  forget(turns: Iterable<string>): Promise<void>
  /** Deletes all snapshots of the project. */
  clear(): Promise<void>
}

type SnapshotOptions = {
  /** `<home>/projects/<slug>/snapshots`; created when it is first needed. */
  dir: string
  root: string
  env: Env
  limits?: Partial<Limits>
  clock?: Clock
  /** Whether a folder that no longer exists counts as empty, so that an undo creates it again. */
  canBeGone?: boolean
}

/** The tree without files, which git knows even if it is not stored. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

// A turn takes trees; the code to read, copy or restore them is loaded on demand.
const projectCopy = () => import('./project-copy.ts')
const treeDiff = () => import('./tree-diff.ts')
const undoPlan = () => import('./undo-plan.ts')
const fileRestore = () => import('./file-restore.ts')

export function snapshots({ dir, root, env, clock = realClock, ...options }: SnapshotOptions): Snapshots {
  const limits = { ...usualLimits, ...options.limits }
  let opened: ReturnType<typeof open> | undefined
  const open = () => {
    const isNew = !existsSync(dir)
    const repository = openRepository(dir, root, env)
    if (isNew) beginStore(dir, clock.now())
    const store = { repository, turns: new TurnRecords(dir), recent: new RecentTrees(dir), limits }
    return { ...store, taker: new TreeTaker(repository, limits, clock) }
  }
  const store = () => (opened ??= open())

  const taken = async (): Promise<{ tree: string; nested?: string[] }> => {
    if (containsHome(root, env)) throw new SnapshotsOff('the project is a home folder, or holds one')
    if (isWithin(root, ourHome(dir)) && !isWorktree(root, dir)) throw new SnapshotsOff("this is termaite's own home")
    if (!existsSync(root) && options.canBeGone) return { tree: emptyTree }
    if (!existsSync(root)) throw new SnapshotsOff('the project folder is gone')
    const { tree, nested } = await store().taker.take()
    store().recent.add(tree, clock.now())
    return nested.length > 0 ? { tree, nested: nested.map(readablePath) } : { tree }
  }
  const now = async () => (await taken()).tree
  let sized: Promise<boolean> | undefined
  const large = () => (sized ??= isLarge(root, limits))
  const find = (turn: string): TurnRecord => {
    const found = store()
      .turns.list()
      .find((kept) => kept.turn === turn)
    if (found) return found
    throw new SnapshotsOff(`no turn ${turn} is kept for this project`)
  }
  const bring = async ({ base, tree }: { base: string; tree: string }, what: Pick<CopyJoin, 'only' | 'over'> = {}) => {
    const aside = asideFolder(dir, newId(clock.now()))
    const { bringBack } = await projectCopy()
    return bringBack(store().repository, { base, copy: tree, now: await now() }, { ...what, aside })
  }
  /** Leaves out the paths that are in one of the trees because the project's own rules include them. */
  const outside = async (
    paths: readonly string[],
    { before, after = before }: Pick<TurnRecord, 'before' | 'after'>,
  ) => {
    if (paths.length === 0) return []
    const held = await Promise.all(
      [before, after].map((tree) =>
        store().repository.git(['ls-tree', '-r', '-z', '--name-only', tree, '--', ...paths]),
      ),
    )
    const names = new Set(held.flatMap(({ out }) => splitPaths(out).map(readablePath)))
    return paths.filter((path) => !names.has(path))
  }
  /** Snapshots of copies are pruned after a day. */
  const areKept = async (...trees: string[]): Promise<void> => {
    for (const tree of trees)
      if ((await store().repository.git(['cat-file', '-e', `${tree}^{tree}`])).code !== 0)
        throw new SnapshotsOff('the changes of this copy are not kept any more')
  }

  return {
    async take() {
      try {
        return await taken()
      } catch (error) {
        return defined({ off: messageOf(error), passing: error instanceof NoRoom || undefined })
      }
    },
    get copied() {
      return existsSync(dir) && store().taker.copied
    },
    large,
    async prepare() {
      if (!containsHome(root, env) && (await large())) await this.take()
    },
    stop() {
      opened?.taker.stop()
    },
    async keep(turn, trees) {
      const marks = secretFileMarks(root)
      const { secrets = {} } = store().turns.get(turn) ?? {}
      const uncopied = trees.after === undefined ? [] : await outside(changedMarks(secrets, marks), trees)
      const more = trees.after === undefined ? { secrets: marks } : uncopied.length > 0 ? { uncopied } : {}
      store().turns.put({ turn, ...trees, ...more })
      // The turn is recorded already, and a store works without its clean-up.
      if (isCleanupDue(store(), clock.now())) await cleanUp(store(), clock.now()).catch(() => {})
    },
    async list() {
      // Listing the turns of an unused project creates no folder.
      return existsSync(dir) ? store().turns.list() : []
    },
    async undoneSince(turn) {
      return existsSync(dir) && store().turns.undoneSince(turn)
    },
    async diff(turn, below) {
      const { before, after } = find(turn)
      return (await treeDiff()).diffTrees(store().repository, before, after ?? (await now()), below)
    },
    async stat(turn) {
      const { before, after } = find(turn)
      return (await treeDiff()).statTrees(store().repository, before, after ?? (await now()))
    },
    async changed(before, after) {
      const { changesBetween } = await treeDiff()
      const changes = await changesBetween(store().repository, before, after ?? (await now()), '--no-renames')
      return changes.map(({ path }) => readablePath(path))
    },
    async since(tree, below) {
      const { briefDiff } = await treeDiff()
      const to = await now()
      return { ...(await briefDiff(store().repository, tree, to, longestPatch, below)), tree: to }
    },
    async restore(tree, seen) {
      const { repository } = store()
      const [{ planUndo }, { restoreFiles }] = await Promise.all([undoPlan(), fileRestore()])
      const span = { turn: '', before: tree, after: seen, at: clock.now(), prompt: '' }
      const { moves, left } = await planUndo(repository, span, await now())
      const [again, unchanged] = [moves.filter(({ conflict }) => conflict), moves.filter(({ conflict }) => !conflict)]
      left.push(...again.map(({ path }) => ({ path: readablePath(path), why: 'it was changed again since' })))
      left.push(...(await restoreFiles(repository, unchanged)))
      return left
    },
    async copy(folder, signal) {
      const { checkOutCopy, copyChanges } = await projectCopy()
      let base = await now()
      const { repository } = store()
      const rules = ignoreRules(repository, ourHome(dir))
      const { tree, forget } = await checkOutCopy(repository, rules, limits, { tree: base, folder, signal })
      const taken = async () => {
        const copy = await tree()
        store().recent.add(copy, clock.now())
        return copy
      }
      return {
        forget,
        async begin() {
          base = await taken()
        },
        changed: async () => copyChanges(repository, base, await taken()),
        async bringBack({ changes, ...what } = {}) {
          const copy = changes?.tree ?? (await taken())
          return bring({ base, tree: copy }, what)
        },
      }
    },
    async copyChanges(base, tree) {
      await areKept(base, tree)
      return (await projectCopy()).copyChanges(store().repository, base, tree)
    },
    async bringIn({ base, tree }, what) {
      await areKept(base, tree)
      return bring({ base, tree }, what)
    },
    async planUndo(turn) {
      const { planUndo } = await undoPlan()
      const { moves: _, ...plan } = await planUndo(store().repository, find(turn), await now())
      return plan
    },
    async undo({ turn }, as) {
      const [{ planUndo }, { copyConflicts, restoreFiles }] = await Promise.all([undoPlan(), fileRestore()])
      const { repository, turns } = store()
      const before = await now()
      const { moves, left } = await planUndo(repository, turn, before)
      const at = clock.now()
      const undo: TurnRecord = { turn: as ?? newId(at), before, at, prompt: undoPrompt(turn), undoes: turn.turn }
      turns.put(undo)
      const folder = asideFolder(dir, undo.turn)
      const files = await copyConflicts(repository, moves, folder)
      left.push(...(await restoreFiles(repository, moves)))
      turns.put({ ...undo, after: await now() })
      return defined({ turn: undo.turn, left, aside: files.length > 0 ? { folder, files } : undefined })
    },
    async forget(gone) {
      if (!existsSync(dir)) return
      const { turns } = store()
      const forgotten = new Set(gone)
      // The undo of a turn has the turn's prompt too, and an undo is later than what it undoes.
      for (const { turn, undoes } of turns.list()) if (undoes && forgotten.has(undoes)) forgotten.add(turn)
      for (const turn of forgotten) {
        turns.drop(turn)
        rmSync(asideFolder(dir, turn), { recursive: true, force: true })
      }
      // Objects of the last minutes stay for now: recording the next turn cleans up again.
      await cleanUp(store(), clock.now()).catch(() => {})
      requestCleanup(dir)
    },
    async clear() {
      opened = undefined
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
