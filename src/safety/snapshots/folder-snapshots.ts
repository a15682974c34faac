import type { Diff, FileStat } from './tree-diff.ts'
import type { SkippedPath, UndoPlan, UndoStep } from './undo-plan.ts'
import type { Snapshots } from './snapshots.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { defined } from '../../base/defined.ts'
import { namesIn, textIn } from '../../base/files/files.ts'

/** The snapshots of a folder that was added to the project. */
type Part = { folder: string; key: string; snapshots: Snapshots }

type FolderSnapshotsOptions = {
  /** The project's own snapshots, and the folder that they are in; those of added folders lie beside it. */
  project: Snapshots
  dir: string
  /** The folders that are added now. */
  folders(): readonly string[]
  open(dir: string, root: string): Snapshots
}

/**
 * Snapshots of a project together with those of the folders that were added to it, under one turn: a diff shows the changes of all
 * of them, and an undo takes them back. A tree of them is the project's tree with the trees of the folders behind it.
 */
export function withFolderSnapshots({ project, dir, folders, open }: FolderSnapshotsOptions): Snapshots {
  const opened = new Map<string, Part>()
  const partOf = (folder: string): Part => {
    const key = shortHash(folder)
    const part = opened.get(key) ?? { folder, key, snapshots: open(`${dir}-${key}`, folder) }
    opened.set(key, part)
    return part
  }
  const now = () => folders().map(partOf)
  /** The folders of earlier turns too: what was changed there can be undone after the folder was taken back. */
  const known = () => foldersBeside(dir).map(partOf)
  const within = (keys: Iterable<string>) => [...keys].flatMap((key) => known().find((part) => part.key === key) ?? [])

  /** The folders in which a turn was recorded. */
  const ofTurn = async (turn: string): Promise<Part[]> => {
    const has = async ({ snapshots }: Part) => (await snapshots.list()).some((record) => record.turn === turn)
    const parts = known()
    const found = await Promise.all(parts.map(has))
    return parts.filter((_, at) => found[at])
  }

  return {
    async take() {
      const parts = now()
      for (const { key, folder } of parts) remember(`${dir}-${key}`, folder)
      const [own, ...others] = await Promise.all([project.take(), ...parts.map(({ snapshots }) => snapshots.take())])
      if ('off' in own) return own
      const trees = parts.flatMap(({ key }, at) => {
        const taken = others[at]!
        // A folder that cannot be copied, such as one that is too large, does not keep the project from being undone.
        return 'tree' in taken ? [[key, taken.tree] as const] : []
      })
      return { tree: joined(own.tree, new Map(trees)) }
    },
    get copied() {
      return project.copied && now().every(({ snapshots }) => snapshots.copied)
    },
    async large() {
      const sizes = await Promise.all([project.large(), ...now().map(({ snapshots }) => snapshots.large())])
      return sizes.some(Boolean)
    },
    async prepare() {
      await Promise.all([project.prepare(), ...now().map(({ snapshots }) => snapshots.prepare())])
    },
    stop() {
      for (const one of [project, ...[...opened.values()].map(({ snapshots }) => snapshots)]) one.stop()
    },
    async keep(turn, { before, after, ...rest }) {
      const [from, to] = [split(before), after === undefined ? undefined : split(after)]
      await project.keep(turn, defined({ ...rest, before: from.own, after: to?.own }))
      for (const { key, snapshots } of within(from.others.keys()))
        await snapshots.keep(turn, defined({ ...rest, before: from.others.get(key)!, after: to?.others.get(key) }))
    },
    async list() {
      const records = await project.list()
      const others = await Promise.all(known().map(async ({ key, snapshots }) => ({ key, of: await snapshots.list() })))
      return records.map((record) => {
        const same = others.flatMap(({ key, of }) => {
          const found = of.find(({ turn }) => turn === record.turn)
          return found ? [{ key, found }] : []
        })
        if (same.length === 0) return record
        const before = joined(record.before, new Map(same.map(({ key, found }) => [key, found.before])))
        if (record.after === undefined) return { ...record, before }
        const after = joined(record.after, new Map(same.map(({ key, found }) => [key, found.after ?? found.before])))
        return { ...record, before, after }
      })
    },
    async diff(turn) {
      const own = await project.diff(turn)
      const parts = await ofTurn(turn)
      return together(own, parts, await Promise.all(parts.map(({ snapshots }) => snapshots.diff(turn))))
    },
    async stat(turn) {
      const own = await project.stat(turn)
      const parts = await ofTurn(turn)
      const stats = await Promise.all(parts.map(({ snapshots }) => snapshots.stat(turn)))
      return [...own, ...parts.flatMap((part, at) => stats[at]!.map((stat) => statIn(part, stat)))]
    },
    async changed(before, after) {
      const [from, to] = [split(before), after === undefined ? undefined : split(after)]
      const own = await project.changed(from.own, to?.own)
      const others = await Promise.all(
        within(from.others.keys()).map(async ({ key, folder, snapshots }) =>
          (await snapshots.changed(from.others.get(key)!, to?.others.get(key))).map((path) => join(folder, path)),
        ),
      )
      return [...own, ...others.flat()]
    },
    async since(tree) {
      const { own, others } = split(tree)
      const parts = within(others.keys())
      const { tree: ownNow, ...diff } = await project.since(own)
      const diffs = await Promise.all(parts.map(({ key, snapshots }) => snapshots.since(others.get(key)!)))
      const trees = new Map(parts.map(({ key }, at) => [key, diffs[at]!.tree]))
      return { ...together(diff, parts, diffs), tree: joined(ownNow, trees) }
    },
    async restore(tree, seen) {
      const [to, last] = [split(tree), seen === undefined ? undefined : split(seen)]
      const left = await project.restore(to.own, last?.own)
      for (const part of within(to.others.keys()))
        left.push(
          ...(await part.snapshots.restore(to.others.get(part.key)!, last?.others.get(part.key))).map(skippedIn(part)),
        )
      return left
    },
    copy: (folder, signal) => project.copy(folder, signal),
    copyChanges: (base, tree) => project.copyChanges(base, tree),
    bringIn: (changes, what) => project.bringIn(changes, what),
    async planUndo(turn) {
      const own = await project.planUndo(turn)
      const record = (await this.list()).find((one) => one.turn === turn) ?? own.turn
      const parts = await ofTurn(turn)
      const plans = await Promise.all(parts.map(({ snapshots }) => snapshots.planUndo(turn)))
      return parts.reduce((plan, part, at) => planWith(plan, part, plans[at]!), { ...own, turn: record })
    },
    async undo({ turn: { turn } }, as) {
      const own = await project.undo(await project.planUndo(turn), as)
      const left = [...own.left]
      const aside = own.aside ? [own.aside] : []
      for (const part of await ofTurn(turn)) {
        // The undo has one name everywhere, by which it can be undone.
        const undone = await part.snapshots.undo(await part.snapshots.planUndo(turn), own.turn)
        left.push(...undone.left.map(skippedIn(part)))
        if (undone.aside) aside.push(undone.aside)
      }
      const folder = aside.map((one) => one.folder).join(', ')
      const files = aside.flatMap((one) => one.files)
      return defined({ turn: own.turn, left, aside: aside.length > 0 ? { folder, files } : undefined })
    },
    async clear() {
      for (const { snapshots } of known()) await snapshots.clear()
      await project.clear()
    },
  }
}

const joined = (own: string, others: ReadonlyMap<string, string>): string =>
  [own, ...[...others].map(([key, tree]) => `${key}:${tree}`)].join('+')

function split(tree: string): { own: string; others: Map<string, string> } {
  const [own = '', ...rest] = tree.split('+')
  return { own, others: new Map(rest.map((one) => one.split(':') as [string, string])) }
}

/** The file beside a folder's snapshots that says which folder they are of. */
const nameFile = 'folder'

function remember(dir: string, folder: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(dir, nameFile), folder, { flag: 'wx', mode: 0o600 })
  } catch {
    // The name is there already, or the disk is full, which the snapshot itself reports.
  }
}

function foldersBeside(dir: string): string[] {
  return namesIn(dirname(dir)).flatMap((name) => {
    if (!/^snapshots-[0-9a-z]{11}$/.test(name)) return []
    const folder = textIn(join(dirname(dir), name, nameFile))
    return shortHash(folder) === name.slice('snapshots-'.length) ? [folder] : []
  })
}

function together(own: Diff, parts: readonly Part[], diffs: readonly Diff[]): Diff {
  const patches = parts.flatMap(({ folder }, at) =>
    diffs[at]!.patch === '' ? [] : [`In ${folder}:\n${diffs[at]!.patch}`],
  )
  return {
    patch: [own.patch, ...patches].filter((patch) => patch !== '').join('\n'),
    stat: [...own.stat, ...parts.flatMap((part, at) => diffs[at]!.stat.map((stat) => statIn(part, stat)))],
  }
}

const statIn = ({ folder }: Part, stat: FileStat): FileStat =>
  defined({ ...stat, file: join(folder, stat.file), was: stat.was === undefined ? undefined : join(folder, stat.was) })

const skippedIn =
  ({ folder }: Part) =>
  ({ path, why }: SkippedPath): SkippedPath => ({ path: join(folder, path), why })

function planWith(plan: UndoPlan, part: Part, more: UndoPlan): UndoPlan {
  const stepIn = (step: UndoStep): UndoStep =>
    defined({
      ...step,
      path: join(part.folder, step.path),
      to: step.to === undefined ? undefined : join(part.folder, step.to),
    })
  return {
    turn: plan.turn,
    steps: [...plan.steps, ...more.steps.map(stepIn)],
    conflicts: [...plan.conflicts, ...more.conflicts.map((path) => join(part.folder, path))],
    left: [...plan.left, ...more.left.map(skippedIn(part))],
  }
}
