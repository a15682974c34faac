import type { Diff, FileStat } from './tree-diff.ts'
import type { SkippedPath, UndoPlan, UndoStep } from './undo-plan.ts'
import type { Snapshots } from './snapshots.ts'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { shortHash } from '../../base/hash.ts'
import { defined } from '../../base/defined.ts'
import { makeFolderHere, namesIn, textIn } from '../../base/files/files.ts'
import { realIfThere } from '../../base/files/real-path.ts'
import { emptyTree } from './snapshots.ts'

/**
 * The snapshots of a folder that was added to the project, or of a repository inside it. `name` is the prefix of its files' paths: the
 * paths of a repository inside the project are shown like paths of the project.
 */
type Part = { folder: string; name: string; key: string; isNested: boolean; snapshots: Snapshots }

type FolderSnapshotsOptions = {
  /** The project's own snapshots, its root, and their folder; the snapshots of other folders are next to it. */
  project: Snapshots
  root: string
  dir: string
  /** The folders that are added now. */
  folders(): readonly string[]
  open(dir: string, root: string, isNested: boolean): Snapshots
}

/** The most repositories inside a project that have snapshots. */
const mostNested = 32

/**
 * Snapshots of a project together with those of the added folders and of the repositories inside the project, under one turn: a diff
 * shows the changes of all of them, and an undo reverts them. A combined tree is the project's tree followed by the trees of the others.
 */
export function withFolderSnapshots({ project, root, dir, folders, open }: FolderSnapshotsOptions): Snapshots {
  const opened = new Map<string, Part>()
  /** `place` is the path of an added folder, or the place of a repository in the project: `./` and its path, even after a move. */
  const partOf = (place: string): Part => {
    const key = shortHash(place)
    const isNested = place.startsWith(inside)
    const name = isNested ? place.slice(inside.length) : place
    const folder = isNested ? join(root, name) : place
    const part = opened.get(key) ?? { folder, name, key, isNested, snapshots: open(`${dir}-${key}`, folder, isNested) }
    opened.set(key, part)
    return part
  }
  const now = () => folders().map(partOf)
  /** This includes the folders of earlier turns: their changes can be undone after the folder was removed. */
  const known = () => foldersBeside(dir).map(partOf)
  const within = (keys: Iterable<string>) => [...keys].flatMap((key) => known().find((part) => part.key === key) ?? [])

  /** Takes the trees of the repositories inside the project or inside each other; a repository that no longer exists counts as empty. */
  const takeNested = async (found: readonly string[]): Promise<(readonly [key: string, tree: string])[]> => {
    const taken: (readonly [string, string])[] = []
    for (let level = found; level.length > 0 && taken.length < mostNested;) {
      const parts = level.slice(0, mostNested - taken.length).map((path) => partOf(inside + path))
      for (const part of parts) remember(`${dir}-${part.key}`, inside + part.name)
      const results = await Promise.all(
        parts.filter(isInPlace).map(async (part) => [part, await part.snapshots.take()] as const),
      )
      const trees = results.flatMap(([part, result]) => ('tree' in result ? [{ part, ...result }] : []))
      taken.push(...trees.map(({ part, tree }) => [part.key, tree] as const))
      level = trees.flatMap(({ part, nested = [] }) => nested.map((path) => join(part.name, path)))
    }
    const gone = known().filter(({ isNested, folder }) => isNested && !existsSync(folder))
    return [...taken, ...gone.map(({ key }) => [key, emptyTree] as const)]
  }

  /** The folders in which a turn was recorded. */
  const ofTurn = async (turn: string): Promise<Part[]> => {
    const has = async ({ snapshots }: Part) => (await snapshots.list()).some((record) => record.turn === turn)
    const parts = known().filter(isInPlace)
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
        // If a folder cannot be copied, for example because it is too large, the project can still be undone.
        return 'tree' in taken ? [[key, taken.tree] as const] : []
      })
      const nested = own.nested ?? []
      return { tree: joined(own.tree, new Map([...trees, ...(await takeNested(nested))])) }
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
      for (const { key, isNested, snapshots } of within(from.others.keys()))
        // A later repository is not undone, because that would leave only its .git.
        if (!isNested || from.others.get(key) !== emptyTree)
          await snapshots.keep(turn, defined({ ...rest, before: from.others.get(key)!, after: to?.others.get(key) }))
    },
    // The undo of a turn is recorded in the project, whichever folders it changes.
    undoneSince: (turn) => project.undoneSince(turn),
    async list() {
      const records = await project.list()
      const others = await Promise.all(known().map(async (part) => ({ ...part, of: await part.snapshots.list() })))
      return records.map((alone) => {
        const same = others.flatMap(({ key, name, of }) => {
          const found = of.find(({ turn }) => turn === alone.turn)
          return found ? [{ key, name, found }] : []
        })
        if (same.length === 0) return alone
        const more = same.flatMap(({ name, found }) => (found.uncopied ?? []).map((path) => join(name, path)))
        const record = more.length > 0 ? { ...alone, uncopied: [...(alone.uncopied ?? []), ...more] } : alone
        const before = joined(record.before, new Map(same.map(({ key, found }) => [key, found.before])))
        if (record.after === undefined) return { ...record, before }
        const after = joined(record.after, new Map(same.map(({ key, found }) => [key, found.after ?? found.before])))
        return { ...record, before, after }
      })
    },
    async diff(turn) {
      const own = await project.diff(turn)
      const parts = await ofTurn(turn)
      return together(own, parts, await Promise.all(parts.map((part) => part.snapshots.diff(turn, below(part)))))
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
        within(from.others.keys()).map(async ({ key, name, snapshots }) =>
          (await snapshots.changed(from.others.get(key)!, to?.others.get(key))).map((path) => join(name, path)),
        ),
      )
      return [...own, ...others.flat()]
    },
    async since(tree) {
      const { own, others } = split(tree)
      const parts = within(others.keys())
      const { tree: ownNow, ...diff } = await project.since(own)
      const diffs = await Promise.all(parts.map((part) => part.snapshots.since(others.get(part.key)!, below(part))))
      const trees = new Map(parts.map(({ key }, at) => [key, diffs[at]!.tree]))
      return { ...together(diff, parts, diffs), tree: joined(ownNow, trees) }
    },
    async restore(tree, seen) {
      const [to, last] = [split(tree), seen === undefined ? undefined : split(seen)]
      const left = await project.restore(to.own, last?.own)
      for (const part of within(to.others.keys())) {
        const before = to.others.get(part.key)!
        if (part.isNested && before !== emptyTree) makeFolderHere(part.folder)
        left.push(...(await part.snapshots.restore(before, last?.others.get(part.key))).map(skippedIn(part)))
      }
      return aboutParts(left, within(to.others.keys()))
    },
    copy: (folder, signal) => project.copy(folder, signal),
    copyChanges: (base, tree) => project.copyChanges(base, tree),
    bringIn: (changes, what) => project.bringIn(changes, what),
    async planUndo(turn) {
      const own = await project.planUndo(turn)
      const record = (await this.list()).find((one) => one.turn === turn) ?? own.turn
      const parts = await ofTurn(turn)
      const plans = await Promise.all(parts.map(({ snapshots }) => snapshots.planUndo(turn)))
      const left = aboutParts(own.left, parts)
      return parts.reduce((plan, part, at) => planWith(plan, part, plans[at]!), { ...own, turn: record, left })
    },
    async undo({ turn: { turn } }, as) {
      const own = await project.undo(await project.planUndo(turn), as)
      const parts = await ofTurn(turn)
      const left = aboutParts(own.left, parts)
      const aside = own.aside ? [own.aside] : []
      for (const part of parts) {
        const plan = await part.snapshots.planUndo(turn)
        if (part.isNested && plan.steps.length > 0) makeFolderHere(part.folder)
        // The undo has the same id in every repository, so that the undo itself can be undone.
        const undone = await part.snapshots.undo(plan, own.turn)
        left.push(...undone.left.map(skippedIn(part)))
        if (undone.aside) aside.push(undone.aside)
      }
      const folder = aside.map((one) => one.folder).join(', ')
      const files = aside.flatMap((one) => one.files)
      return defined({ turn: own.turn, left, aside: aside.length > 0 ? { folder, files } : undefined })
    },
    async forget(turns) {
      const gone = [...turns]
      for (const { snapshots } of known()) await snapshots.forget(gone)
      await project.forget(gone)
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

/** The prefix of the place of a repository inside the project. */
const inside = './'

/** Whether a folder is in its old place, or does not exist: behind a link there would be other files. */
const isInPlace = ({ isNested, folder }: Part) => !isNested || [undefined, folder].includes(realIfThere(folder))

/** The prefix of the paths of a part's files in a patch. The path of an added folder is a line above its patch. */
const below = ({ isNested, name }: Part) => (isNested ? `${name}/` : '')

/**
 * Names the parts that stay changed in repositories whose files are undone: their commits, or the whole .git of a repository that no
 * longer exists.
 */
const aboutParts = (left: readonly SkippedPath[], parts: readonly Part[]): SkippedPath[] =>
  left.flatMap((skipped) => {
    const part = parts.find(({ isNested, name }) => isNested && name === skipped.path)
    if (!part) return [skipped]
    const hasGit = existsSync(join(part.folder, '.git'))
    return [hasGit ? { path: part.name, why: commitWords } : { path: join(part.name, '.git'), why: goneWords }]
  })

const commitWords = 'it is a repository of its own, whose commits stay; only its files are undone'
const goneWords = 'it is gone, and termaite keeps no copy of it; only the files beside it are undone'

/** The file next to a folder's snapshots that says which folder they belong to. */
const nameFile = 'folder'

function remember(dir: string, folder: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(dir, nameFile), folder, { flag: 'wx', mode: 0o600 })
  } catch {
    // The name exists already, or the disk is full, which the snapshot itself reports.
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
  const patches = parts.map(({ isNested, folder }, at) => {
    const { patch } = diffs[at]!
    return patch === '' || isNested ? patch : `\nIn ${folder}:\n${patch}`
  })
  return {
    patch: [own.patch, ...patches].join('').replace(/^\n/, ''),
    stat: [...own.stat, ...parts.flatMap((part, at) => diffs[at]!.stat.map((stat) => statIn(part, stat)))],
  }
}

const statIn = ({ name }: Part, stat: FileStat): FileStat =>
  defined({ ...stat, file: join(name, stat.file), was: stat.was === undefined ? undefined : join(name, stat.was) })

const skippedIn =
  ({ name }: Part) =>
  ({ path, why }: SkippedPath): SkippedPath => ({ path: join(name, path), why })

function planWith(plan: UndoPlan, part: Part, more: UndoPlan): UndoPlan {
  const stepIn = (step: UndoStep): UndoStep =>
    defined({
      ...step,
      path: join(part.name, step.path),
      to: step.to === undefined ? undefined : join(part.name, step.to),
    })
  return {
    turn: plan.turn,
    steps: [...plan.steps, ...more.steps.map(stepIn)],
    conflicts: [...plan.conflicts, ...more.conflicts.map((path) => join(part.name, path))],
    left: [...plan.left, ...more.left.map(skippedIn(part))],
  }
}
