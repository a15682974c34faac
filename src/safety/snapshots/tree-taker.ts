import type { Clock } from '../../base/clock.ts'
import type { Limits } from './retention.ts'
import type { GitOptions, RawPath, Repository } from './snapshot-repository.ts'
import type { Ran } from '../../base/collect.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { callAfter } from '../../base/clock.ts'
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
import {
  SnapshotsOff,
  checked,
  ensureFile,
  fileMark,
  onDisk,
  splitPaths,
  stamp,
  stampedAt,
  workFile,
} from './snapshot-repository.ts'
import { ignoreRules, ourHome } from './ignore-rules.ts'
import { isMissing } from '../../base/files.ts'
import { nestedIn } from '../../base/git.ts'

const day = 24 * 3_600_000

/** Takes trees of the project within a time limit. A damaged index is rebuilt; after a take that was too slow, none is tried for a day. */
export class TreeTaker {
  #repository: Repository
  #limits: Limits
  #clock: Clock
  #slow: string
  #rules: ReturnType<typeof ignoreRules> | undefined

  constructor(repository: Repository, limits: Limits, clock: Clock) {
    this.#repository = repository
    this.#limits = limits
    this.#clock = clock
    this.#slow = join(repository.dir, 'too-slow')
  }

  async take(): Promise<string> {
    const since = stampedAt(this.#slow)
    if (since !== undefined && this.#clock.now() - since < day) throw this.#tooSlow()
    const late = new AbortController()
    const done = new AbortController()
    callAfter(this.#clock, this.#limits.ms, done.signal, () => late.abort())
    try {
      return await this.#takeOrRebuild(late.signal)
    } catch (error) {
      if (!late.signal.aborted) throw error
      stamp(this.#slow, this.#clock.now())
      throw this.#tooSlow()
    } finally {
      done.abort()
    }
  }

  async #takeOrRebuild(signal: AbortSignal): Promise<string> {
    const take = () => takeTree(this.#repository, (this.#rules ??= this.#newRules()), this.#limits, signal)
    try {
      return await take()
    } catch (error) {
      if (error instanceof SnapshotsOff || signal.aborted) throw error
      // A power cut can tear the index, or its objects may be gone: without an index git reads every file again.
      rmSync(join(this.#repository.dir, 'index'), { force: true })
      this.#rules = undefined
      return take()
    }
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

type Git = (args: readonly string[], more?: GitOptions) => Promise<Ran>

/**
 * Writes the project as it is now and returns its tree. Each take works on its own index,
 * so that parallel processes share no lock, and a killed one leaves none behind.
 */
async function takeTree(
  repository: Repository,
  rules: IgnoreRules,
  limits: Limits,
  signal: AbortSignal,
): Promise<string> {
  const shared = join(repository.dir, 'index')
  const index = workFile(repository)
  try {
    borrowIndex(shared, index)
    const options = await rules.refresh()
    const git: Git = (args, more) => repository.git([...options, ...args], { index, signal, ...more })
    const last = lastTake(repository.dir, index)
    const userIndex = rules.userIndex()
    const [changed, forced] = await Promise.all([
      changedPaths(git, limits.files),
      last?.userIndex === userIndex ? [] : rules.forced(),
    ])
    if (last && changed.length === 0 && forced.length === 0) {
      rememberTake(repository.dir, { tree: last.tree, userIndex })
      return last.tree
    }
    const bytes = await checkBytes(repository.root, [...changed, ...forced], limits.bytes)
    if (bytes > muchAtOnce) requestCleanup(repository.dir)
    await addAll(git, repository.root)
    if (forced.length > 0) await git(addForced, { input: existingPaths(repository.root, forced) })
    const tree = treeOf(checked(await git(['write-tree'])))
    if (existsSync(index)) renameSync(index, shared)
    rememberTake(repository.dir, { tree, userIndex })
    return tree
  } finally {
    for (const path of [index, `${index}.lock`]) rmSync(path, { force: true })
  }
}

/** Writes a folder with an index of its own and returns its tree. Files in the index stay in the tree even if git ignores them now. */
export async function addedTree(git: Git, folder: string, limits: Limits): Promise<string> {
  await checkBytes(folder, await changedPaths(git, limits.files), limits.bytes)
  await addAll(git, folder)
  return treeOf(checked(await git(['write-tree'])))
}

/**
 * Gives a take its own link to the last index, whose file times make the take fast.
 * Git replaces an index and never writes into one, so a second link is as good as a copy.
 */
function borrowIndex(shared: string, own: string): void {
  try {
    linkSync(shared, own)
  } catch (error) {
    if (isMissing(error)) return
    copyFileSync(shared, own)
    // Git compares a file's content only if the file is not older than the index: a copy that seemed newer would hide a change.
    const { mtimeMs } = statSync(shared)
    utimesSync(own, Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000))
  }
}

/** The result of the last take, so that a take of an unchanged project asks git only once. */
type LastTake = { index: string; tree: string; userIndex: string }

/** Reads the last take; undefined when the index has changed since, or its tree was pruned. */
function lastTake(dir: string, index: string): LastTake | undefined {
  try {
    const last = JSON.parse(readFileSync(join(dir, 'last'), 'utf8')) as LastTake
    const object = join(dir, 'objects', last.tree.slice(0, 2), last.tree.slice(2))
    return last.index === fileMark(index) && last.index !== '' && existsSync(object) ? last : undefined
  } catch {
    return undefined
  }
}

function rememberTake(dir: string, take: Omit<LastTake, 'index'>): void {
  ensureFile(join(dir, 'last'), JSON.stringify({ index: fileMark(join(dir, 'index')), ...take }))
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
    // Synchronous calls are the fastest way to look at many files; a pause now and then lets other work run.
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

/** A take that adds more bytes than this requests a clean-up of the store with the next kept turn. */
const muchAtOnce = 64 * 1024 ** 2

const mostTries = 10

/**
 * Unreadable files are left out, which makes git exit with 1. A file that vanishes under git makes it give up, so it is run again.
 * Nested repositories in the index are left out too: git would start itself in each of them, with a stranger's settings.
 */
async function addAll(git: Git, root: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const nested = nestedIn(checked(await git(['ls-files', '-z', '-s'])).out, root)
    if (nested.length > 0) await git(['update-index', '-z', '--stdin'], { input: asInput(nested) })
    const input = asInput(['.', ...nested.map((path) => `:(exclude,literal)${path}`)])
    const ran = await git(['add', '-A', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'], { input })
    if (tries === mostTries || !/unable to stat/.test(ran.err)) {
      checked(ran, [0, 1])
      return
    }
  }
}

const addForced = [
  '--literal-pathspecs',
  'add',
  '-f',
  '--ignore-errors',
  '--pathspec-from-file=-',
  '--pathspec-file-nul',
]

/** Keeps the paths that exist, as input for git, which fails at a missing one. */
function existingPaths(root: string, paths: readonly RawPath[]): Buffer {
  const present = paths.filter((path) => lstatSync(onDisk(root, path), { throwIfNoEntry: false }))
  return asInput(present)
}

const asInput = (paths: readonly RawPath[]) => Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')

function treeOf(ran: Ran): string {
  return ran.out.toString('latin1').trim()
}
