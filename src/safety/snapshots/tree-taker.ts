import type { Clock } from '../../base/time/clock.ts'
import type { Limits } from './retention.ts'
import type { RawPath, Repository } from './snapshot-repository.ts'
import type { Ran } from '../../base/process/collect.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import type { Git } from './file-adder.ts'
import { callAfter, timeApart } from '../../base/time/clock.ts'
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { requestCleanup } from './retention.ts'
import { addAll, addForced, addMany } from './file-adder.ts'
import { canLook, keepLook, looksTheSame } from './last-look.ts'
import { borrowPersonIndex, repayLoan } from './person-index.ts'
import { clearQuarantines, inQuarantine } from './object-quarantine.ts'
import { serialQueue } from '../../base/serial-queue.ts'
import {
  NoRoom,
  SnapshotsOff,
  checked,
  endLoan,
  ensureFile,
  fileMark,
  keepLoan,
  loanOf,
  onDisk,
  roomError,
  splitPaths,
  stamp,
  stampedAt,
  workFile,
} from './snapshot-repository.ts'
import { ignoreRules, ourHome } from './ignore-rules.ts'
import { isMissing } from '../../base/files/files.ts'

const day = 24 * 3_600_000

/**
 * Takes trees of the project within a time limit, one after another. A damaged index is rebuilt; after a take that was too slow, there is
 * no further attempt for a day.
 */
export class TreeTaker {
  #repository: Repository
  #limits: Limits
  #clock: Clock
  #slow: string
  #rules: ReturnType<typeof ignoreRules> | undefined
  #inTurn = serialQueue()
  #stop = new AbortController()
  #repaying = false
  #looking = false

  constructor(repository: Repository, limits: Limits, clock: Clock) {
    this.#repository = repository
    this.#limits = limits
    this.#clock = clock
    this.#slow = join(repository.dir, 'too-slow')
  }

  /** Whether a whole tree was ever taken: the next one then only reads changes. */
  get copied(): boolean {
    return existsSync(lastFile(this.#repository.dir))
  }

  take(): Promise<TakenTree> {
    return this.#inTurn(() => this.#takeInTime())
  }

  /** Stops the running take. The part that a first take has copied is kept, and the next take continues from there. */
  stop(): void {
    this.#stop.abort()
  }

  async #takeInTime(): Promise<TakenTree> {
    const since = stampedAt(this.#slow)
    if (since !== undefined && timeApart(this.#clock.now(), since) < day) throw this.#tooSlow()
    const late = new AbortController()
    const done = new AbortController()
    callAfter(this.#clock, this.#limits.ms, done.signal, () => late.abort())
    try {
      const { isSame, ...taken } = await this.#takeOrRebuild(AbortSignal.any([late.signal, this.#stop.signal]))
      if (isSame) this.#look()
      return taken
    } catch (error) {
      if (!late.signal.aborted) throw error
      stamp(this.#slow, this.#clock.now())
      throw this.#tooSlow()
    } finally {
      done.abort()
      this.#repay()
    }
  }

  /** Copies borrowed contents into the store in the background. If this process ends before that, the next one does it. */
  #repay(): void {
    const { dir } = this.#repository
    if (this.#repaying || loanOf(dir) === undefined) return
    this.#repaying = true
    repayLoan(this.#repository, this.#stop.signal)
      .catch(() => {
        // Contents that can no longer be borrowed are read from the files again.
        if (!this.#stop.signal.aborted) this.#inTurn(async () => (forgetIndex(dir), endLoan(dir))).catch(() => {})
      })
      .finally(() => (this.#repaying = false))
  }

  /** Looks at a project without changes in the background, so that the next take need not run git. */
  #look(): void {
    const { dir } = this.#repository
    const index = lastTake(dir, join(dir, 'index'))?.index
    if (this.#looking || index === undefined || !canLook(this.#repository, index)) return
    this.#looking = true
    const { signal } = this.#stop
    const git: Git = (args, more) => this.#repository.git(args, { signal, ...more })
    // If the look fails, nothing is recorded, and git is run.
    this.#inTurn(() => keepLook(this.#repository, git, { index, now: this.#clock.now() }))
      .catch(() => {})
      .finally(() => (this.#looking = false))
  }

  async #takeOrRebuild(signal: AbortSignal): Promise<Taken> {
    const take = () => takeTree(this.#repository, (this.#rules ??= this.#newRules()), this.#limits, signal)
    try {
      return await take()
    } catch (cause) {
      const error = roomError(cause)
      if (error instanceof NoRoom) this.#makeRoom()
      if (error instanceof SnapshotsOff || error instanceof NoRoom || signal.aborted) throw error
      // A power cut can tear the index, or its objects may be missing: without an index git reads every file again.
      forgetIndex(this.#repository.dir)
      this.#rules = undefined
      return await take().catch((again) => {
        throw roomError(again)
      })
    }
  }

  /** Frees the space on a full disk that failed takes have used. */
  #makeRoom(): void {
    const { dir } = this.#repository
    clearQuarantines(dir, this.#clock.now(), longestTakeMs)
    if (this.copied) return
    forgetIndex(dir)
    rmSync(join(dir, 'objects', 'pack'), { recursive: true, force: true })
  }

  #newRules() {
    return ignoreRules(this.#repository, ourHome(this.#repository.dir))
  }

  #tooSlow(): SnapshotsOff {
    return new SnapshotsOff(
      `reading the project takes longer than ${Math.round(this.#limits.ms / 1000)} s; add generated files to .gitignore`,
    )
  }
}

/** A tree, and the repositories inside the project, of which it only has the commit. */
type TakenTree = { tree: string; nested: RawPath[] }

/** `isSame`: git found no change, and only the usual files decide what is ignored. */
type Taken = TakenTree & { isSame?: true }

/** The longest time that a take lasts, in any process. */
const longestTakeMs = 10 * 60_000

function forgetIndex(dir: string): void {
  rmSync(join(dir, 'index'), { force: true })
}

/**
 * Writes the project's present files and returns their tree. Each take works on its own index, so that parallel processes share no lock,
 * and a killed one leaves no lock behind.
 */
async function takeTree(
  repository: Repository,
  rules: IgnoreRules,
  limits: Limits,
  signal: AbortSignal,
): Promise<Taken> {
  const { dir, root } = repository
  const shared = join(dir, 'index')
  const index = workFile(repository)
  try {
    const options = await rules.refresh()
    const userIndex = rules.userIndex()
    const known = options.length === 0 ? lastTake(dir, shared) : undefined
    if (known?.userIndex === userIndex && looksTheSame(repository, known.index))
      return { tree: known.tree, nested: known.nested }
    const lender = borrowIndex(shared, index) ? undefined : await borrowPersonIndex(repository, index, limits)
    const last = lastTake(dir, index)
    const look: Git = (args, more) => repository.git([...options, ...args], { index, signal, ...more })
    const [changed, forced] = await Promise.all([
      changedPaths(look, limits.files),
      // The copy of the person's index contains every file of it.
      last?.userIndex === userIndex || lender !== undefined ? [] : rules.forced(),
    ])
    if (last && changed.length === 0 && forced.length === 0) {
      const { tree, nested } = last
      rememberTake(dir, { tree, nested, userIndex })
      return options.length === 0 ? { tree, nested, isSame: true } : { tree, nested }
    }
    const bytes = await checkBytes(root, [...changed, ...forced], limits.bytes)
    if (bytes > muchAtOnce) requestCleanup(dir)
    // Git lists a repository that is not in the index yet with a slash at its end.
    const nested = new Set(changed.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1)))
    const tree = await inQuarantine(repository, async ({ objects, admit }) => {
      const git: Git = (args, more) => look(args, { objects, ...more })
      await addMany(git, changed, limits, () => {
        admit()
        if (lender === undefined) publish(index, shared)
      })
      for (const path of await addAll(git, root, index)) nested.add(path)
      await addForced(git, root, forced)
      const lent = lender !== undefined || repository.lender() !== undefined
      return treeOf(checked(await git(['write-tree', ...(lent ? ['--missing-ok'] : [])])))
    })
    if (lender !== undefined) keepLoan(dir, { tree, objects: lender })
    if (existsSync(index)) renameSync(index, shared)
    const taken = { tree, nested: [...nested].sort() }
    rememberTake(dir, { ...taken, userIndex })
    return taken
  } finally {
    for (const path of [index, `${index}.lock`]) rmSync(path, { force: true })
  }
}

/** Makes an index the one with which the next take begins, while this take continues with its own. */
function publish(index: string, shared: string): void {
  const link = `${index}.link`
  try {
    linkSync(index, link)
    renameSync(link, shared)
  } catch {
    // If links are not possible, an interrupted first take starts from the beginning.
    rmSync(link, { force: true })
  }
}

/** Writes a folder with its own index and returns its tree. Files in the index stay in the tree even if git ignores them now. */
export async function addedTree(repository: Repository, look: Git, folder: string, limits: Limits): Promise<string> {
  await checkBytes(folder, await changedPaths(look, limits.files), limits.bytes)
  return inQuarantine(repository, async ({ objects }) => {
    const git: Git = (args, more) => look(args, { objects, lent: true, ...more })
    await addAll(git, folder)
    return treeOf(checked(await git(['write-tree'])))
  })
}

/**
 * Gives a take its own link to the last index, whose file times make the take fast; returns whether the last index exists. Git replaces
 * an index and never writes into one, so a second link is as good as a copy.
 */
function borrowIndex(shared: string, own: string): boolean {
  try {
    linkSync(shared, own)
  } catch (error) {
    if (isMissing(error)) return false
    copyFileSync(shared, own)
    // Git compares a file's content only if the file is not older than the index: a copy that seemed newer would hide a change.
    const { mtimeMs } = statSync(shared)
    utimesSync(own, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000))
  }
  return true
}

/** The result of the last take, so that a take of an unchanged project runs git only once. */
type LastTake = TakenTree & { index: string; userIndex: string }

const lastFile = (dir: string) => join(dir, 'last')

/** Reads the last take; undefined if the index has changed since, or its tree was pruned. */
function lastTake(dir: string, index: string): LastTake | undefined {
  try {
    const last = JSON.parse(readFileSync(lastFile(dir), 'utf8')) as LastTake
    const object = join(dir, 'objects', last.tree.slice(0, 2), last.tree.slice(2))
    const isWhole = last.index !== '' && Array.isArray(last.nested)
    return isWhole && last.index === fileMark(index) && existsSync(object) ? last : undefined
  } catch {
    return undefined
  }
}

function rememberTake(dir: string, take: Omit<LastTake, 'index'>): void {
  ensureFile(lastFile(dir), JSON.stringify({ index: fileMark(join(dir, 'index')), ...take }))
}

/** Lists the paths that differ from the index: all of them at the first take, few later. */
async function changedPaths(git: Git, limit: number): Promise<RawPath[]> {
  let seen = 0
  const enough = (chunk: Uint8Array) => {
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) seen++
    return seen > limit
  }
  const ran = await git(['ls-files', '-z', '-o', '-m', '--exclude-standard'], { enough })
  if (seen > limit)
    throw new SnapshotsOff(`more than ${limit} files changed at once; add generated files to .gitignore`)
  return splitPaths(checked(ran).out)
}

async function checkBytes(root: string, paths: readonly RawPath[], limit: number): Promise<number> {
  const bytes = await weigh(
    paths.map((path) => onDisk(root, path)),
    limit,
  )
  if (bytes > limit)
    throw new SnapshotsOff(`more than ${amount(limit)} changed at once; add generated files to .gitignore`)
  return bytes
}

/** Adds up the sizes of the files; stops counting above `limit`. */
async function weigh(paths: readonly Buffer[], limit: number): Promise<number> {
  let bytes = 0
  for (const [i, path] of paths.entries()) {
    // Synchronous calls are the fastest way to check many files; a pause from time to time lets other work run.
    if (i % 512 === 511) await new Promise((resolve) => setImmediate(resolve))
    bytes += sizeOf(path)
    if (bytes > limit) break
  }
  return bytes
}

function sizeOf(path: Buffer): number {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    return 0
  }
}

function amount(bytes: number): string {
  return bytes < 1024 ** 2 ? `${bytes} bytes` : `${Math.round(bytes / 1024 ** 2)} MB`
}

/** A take that adds more bytes than this makes a clean-up of the store due with the next kept turn. */
const muchAtOnce = 64 * 1024 ** 2

function treeOf(ran: Ran): string {
  return ran.out.toString('latin1').trim()
}
