import type { TurnRecord, TurnRecords } from './turn-records.ts'
import type { Repository } from './snapshot-repository.ts'
import type { Ran } from '../../base/process/collect.ts'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { clearQuarantines, inQuarantine, writePack } from './object-quarantine.ts'
import { checked, stamp, stampedAt } from './snapshot-repository.ts'
import { timeApart } from '../../base/time/clock.ts'

export type Limits = {
  /** How many files one snapshot may read, which for the first one is the whole tree. */
  files: number
  /** How many bytes one snapshot may read. */
  bytes: number
  /** A project is large when the index of its repository has as many bytes, or its folder without git as many files. */
  large: { index: number; files: number }
  /** A take of more than `from` files puts this many of them into each pack, because single files would need many times the space. */
  packs: { from: number; files: number }
  /** How long one snapshot may take. */
  ms: number
  /** How many turns are kept. */
  turns: number
  /** How large the whole store may grow. */
  storedBytes: number
}

const gigabyte = 1024 ** 3

export const usualLimits: Limits = {
  files: 200_000,
  bytes: gigabyte,
  large: { index: 256 * 1024, files: 2_000 },
  packs: { from: 2_000, files: 8_000 },
  ms: 120_000,
  turns: 200,
  storedBytes: 2 * gigabyte,
}

type SnapshotStore = { repository: Repository; turns: TurnRecords; recent: RecentTrees; limits: Limits }

/**
 * Trees that were just taken, each as an empty file: their turn may run for hours before it is recorded, and they must not be pruned
 * meanwhile.
 */
export class RecentTrees {
  #folder: string

  constructor(dir: string) {
    this.#folder = join(dir, 'recent')
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  add(tree: string, now: number): void {
    stamp(join(this.#folder, tree), now)
  }

  /** The trees, newest first. */
  list(): string[] {
    return olderThan(this.#folder, Infinity)
      .sort((a, b) => b.at - a.at)
      .map(({ name }) => name)
  }

  /** Drops the trees older than `before`, but never the newest `fewest`. */
  forget(before: number, fewest: number): void {
    const newest = new Set(this.list().slice(0, fewest))
    for (const { name } of olderThan(this.#folder, before)) {
      if (!newest.has(name)) rmSync(join(this.#folder, name), { force: true })
    }
  }
}

function olderThan(folder: string, moment: number): { name: string; at: number }[] {
  return readdirSync(folder)
    .map((name) => ({ name, at: stampedAt(join(folder, name)) ?? 0 }))
    .filter(({ at }) => at < moment)
}

/** Records that a store is new, so that its first clean-up is due in a day. */
export function beginStore(dir: string, now: number): void {
  stamp(join(dir, 'tidied'), now)
}

/** Schedules a clean-up of the store for the time when the next turn is recorded. */
export function requestCleanup(dir: string): void {
  rmSync(join(dir, 'tidied'), { force: true })
}

const hour = 3_600_000
const day = 24 * hour
const fewestRecent = 8
const asideDays = 30

/** A clean-up is due once a day, or when there are a quarter more turns than allowed. */
export function isCleanupDue({ repository, turns, limits }: SnapshotStore, now: number): boolean {
  const last = stampedAt(join(repository.dir, 'tidied'))
  return last === undefined || timeApart(now, last) > day || turns.count() > limits.turns * 1.25
}

/** Drops the oldest turns above the limits, and then the git objects that nothing refers to. */
export async function cleanUp({ repository, turns, recent, limits }: SnapshotStore, now: number): Promise<void> {
  stamp(join(repository.dir, 'tidied'), now)
  clearWork(join(repository.dir, 'work'), now - day)
  clearQuarantines(repository.dir, now, hour)
  const kept = turns.list()
  const drop = (count: number) => {
    for (const { turn } of kept.splice(0, count)) {
      turns.drop(turn)
      rmSync(asideFolder(repository.dir, turn), { recursive: true, force: true })
    }
  }
  drop(Math.max(0, kept.length - limits.turns))
  clearAsides(join(repository.dir, 'aside'), new Set(kept.map(({ turn }) => turn)), now - asideDays * day)
  recent.forget(now - day, fewestRecent)
  await prune(repository, kept, recent)
  let size = await stored(repository)
  while (size > limits.storedBytes && kept.length > 1) {
    drop(Math.ceil(kept.length / 4))
    recent.forget(Infinity, fewestRecent)
    await prune(repository, kept, recent)
    const left = await stored(repository)
    // Objects written within the last minutes are not pruned yet, so dropping more turns would free nothing.
    if (left >= size) return
    size = left
  }
}

/** Removes old copies of overwritten files that belong to no turn: an agent's work in a copy had replaced these files. */
function clearAsides(folder: string, turns: ReadonlySet<string>, before: number): void {
  if (!existsSync(folder)) return
  for (const { name } of olderThan(folder, before))
    if (!turns.has(decodeURIComponent(name))) rmSync(join(folder, name), { recursive: true, force: true })
}

/** The folder for copies of files that an undo or a joined copy had to overwrite although they had been changed since. */
export function asideFolder(dir: string, undo: string): string {
  return join(dir, 'aside', encodeURIComponent(undo))
}

/** Removes unreachable objects, except young ones: a take in another process may have written objects but no tree yet. */
async function prune(repository: Repository, kept: readonly TurnRecord[], recent: RecentTrees): Promise<void> {
  const trees = kept.flatMap(({ before, after }) => (after === undefined ? [before] : [before, after]))
  const needed = [...new Set([...trees, ...recent.list()])]
  await repository.git(['prune', '--expire=5.minutes.ago', '--', ...needed])
  await repack(repository, needed)
}

/** How old a pack must be to be replaced; git renews the time of a pack if a take needs its contents again. */
const youngMs = 5 * 60_000

/** Replaces all old packs by one that contains only the needed objects. Git itself never removes anything from a pack. */
async function repack(repository: Repository, trees: readonly string[]): Promise<void> {
  const folder = join(repository.dir, 'objects', 'pack')
  const packs = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith('.pack'))
  const isOld = (name: string) => Date.now() - (stampedAt(join(folder, name)) ?? Infinity) > youngMs
  if (packs.length < 2 || repository.lender() !== undefined || !packs.every(isOld)) return
  const wanted = trees.length === 0 ? [] : neededObjects(await repository.git(['rev-list', '--objects', ...trees]))
  const index = neededObjects(await repository.git(['ls-files', '-s', '-z']))
  const made = await inQuarantine(repository, ({ objects }) => writePack(repository, objects, [...wanted, ...index]))
  for (const name of packs.filter((one) => !made.includes(one)))
    for (const part of ['.idx', '.rev', '.pack']) rmSync(join(folder, name.replace(/\.pack$/, part)), { force: true })
}

/** The objects in a list with one object per line, or one after the mode of each file. */
function neededObjects(ran: Ran): string[] {
  const lines = checked(ran)
    .out.toString('latin1')
    .split(/[\n\0]/)
  return lines.flatMap((line) => /^(?:\d{6} )?([0-9a-f]{40})\b/.exec(line)?.[1] ?? [])
}

async function stored(repository: Repository): Promise<number> {
  const { out } = await repository.git(['count-objects', '-v'])
  const sizes = [...out.toString().matchAll(/^size(?:-pack)?: (\d+)$/gm)]
  return sizes.reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)
}

/**
 * Removes the work files of killed processes. The change time counts, because a linked index has the modification time of its original.
 */
function clearWork(folder: string, before: number): void {
  for (const name of readdirSync(folder)) {
    const made = statSync(join(folder, name), { throwIfNoEntry: false })?.ctimeMs ?? 0
    if (made < before) rmSync(join(folder, name), { recursive: true, force: true })
  }
}
