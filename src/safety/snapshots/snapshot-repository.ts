import type { Ran, RunOptions } from '../../base/process/collect.ts'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomName } from '../../base/id.ts'
import { isMissing } from '../../base/files/files.ts'
import { makeStop, runGit } from '../../base/git/run-git.ts'
import { defined } from '../../base/defined.ts'
import { isDiskFull, tellsFullDisk } from '../../base/files/system-error.ts'

export type Env = Readonly<Record<string, string | undefined>>

export type GitOptions = Omit<RunOptions, 'cwd' | 'env'> & {
  index?: string
  tree?: string
  /** The folder to which new objects are written, instead of the store's own. */
  objects?: string
  /** Whether git sees objects that are still in the person's repository; by default only if it writes no objects. */
  lent?: boolean
}

/** A git repository of our own for the project's files; the project's own repository is not touched. */
export type Repository = {
  dir: string
  root: string
  env: Env
  /** The object folder of the person's repository, while the store still needs objects in it. */
  lender(): string | undefined
  git(args: readonly string[], options?: GitOptions): Promise<Ran>
}

/** Overrides every user setting that could change bytes, run a program or trust outdated file times. */
const config = `[core]
	repositoryformatversion = 0
	bare = false
	sharedRepository = 0600
	fileMode = true
	symlinks = true
	autocrlf = false
	safecrlf = false
	attributesFile = /dev/null
	hooksPath = /dev/null
	fsmonitor = false
	untrackedCache = false
	splitIndex = false
	sparseCheckout = false
	ignoreStat = false
	checkStat = default
	trustctime = true
	protectNTFS = false
	quotePath = false
	preloadIndex = true
	looseCompression = 1
	bigFileThreshold = 2g
[gc]
	auto = 0
[advice]
	addEmbeddedRepo = false
[submodule]
	recurse = false
[diff]
	renameLimit = 2000
	suppressBlankEmpty = false
[color]
	ui = false
`

/** Overrides every .gitattributes, so that a tree has the exact bytes and a patch hides nothing. */
const attributes = '* -text -ident -filter !eol !crlf !working-tree-encoding !diff !export-subst\n'

export function openRepository(dir: string, root: string, env: Env): Repository {
  for (const part of ['objects', 'refs', 'info', 'work']) mkdirSync(join(dir, part), { recursive: true, mode: 0o700 })
  // The repository is written by hand, because `git init` takes as long as a whole snapshot, and two at once would compete for its locks.
  ensureFile(join(dir, 'config'), config)
  ensureFile(join(dir, 'info', 'attributes'), attributes)
  ensureFile(join(dir, 'HEAD'), 'ref: refs/heads/none\n')
  const stop = makeStop(join(dir, 'stop'))
  const lender = () => loanOf(dir)?.objects
  return {
    dir,
    root,
    env,
    lender,
    // The person's own configuration is read for their global excludes.
    git: (
      args,
      { index = join(dir, 'index'), tree = root, objects, lent = objects === undefined, ...options } = {},
    ) => {
      const own = objects === undefined ? [] : [join(dir, 'objects')]
      const other = lent ? lender() : undefined
      const places = defined({ objects, alternates: other === undefined ? own : [...own, other] })
      // Kept trees can be compared even if the project's folder no longer exists.
      const place = tree === root && !existsSync(root) ? dir : tree
      return runGit(args, { ...options, ...places, cwd: place, env, dir, tree: place, index, person: true, stop })
    },
  }
}

/** The first tree of a store that began with the person's own index: the contents of its files are still in the person's repository. */
type Loan = { tree: string; objects: string }

const loanFile = (dir: string) => join(dir, 'borrowed')

export function loanOf(dir: string): Loan | undefined {
  try {
    return JSON.parse(readFileSync(loanFile(dir), 'utf8')) as Loan
  } catch {
    return undefined
  }
}

export function keepLoan(dir: string, loan: Loan): void {
  ensureFile(loanFile(dir), JSON.stringify(loan))
}

export function endLoan(dir: string): void {
  rmSync(loanFile(dir), { force: true })
}

/** Says why there is no snapshot, as a message for the person. */
export class SnapshotsOff extends Error {
  override name = 'Off'
}

/** The disk has no room for a snapshot now, but may have it later. */
export class NoRoom extends Error {
  override name = 'NoRoom'
}

/** Turns an error that comes from a full disk into one that says so plainly. */
export function roomError(error: unknown): unknown {
  if (!isDiskFull(error)) return error
  return new NoRoom('the disk has no room for a copy of the project’s files', { cause: error })
}

/** Returns the run if git exited with one of `codes`; throws git's last error line otherwise. */
export function checked(ran: Ran, codes: readonly number[] = [0]): Ran {
  if (ran.code !== undefined && codes.includes(ran.code)) return ran
  if (ran.error && isMissing(ran.error)) throw new SnapshotsOff('git is not installed')
  const full = ran.err.split('\n').find(tellsFullDisk)
  if (full !== undefined) throw new Error(full)
  throw new Error(ran.err.trim().split('\n').at(-1) || ran.error?.message || 'git was killed')
}

/** A new name in the work folder that no other process uses. */
export function workFile(repository: Repository): string {
  return join(repository.dir, 'work', randomName())
}

/** Makes sure that a file has this body; only writes if it differs, because every run calls this. */
export function ensureFile(path: string, body: string): void {
  try {
    if (readFileSync(path, 'utf8') === body) return
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  writeWhole(path, body, join(dirname(path), `.${randomName()}`))
}

/** Writes a file through a draft, which is removed if the disk is full. The file is not synced: a power cut may tear it. */
export function writeWhole(path: string, body: string, draft: string): void {
  try {
    writeFileSync(draft, body, { mode: 0o600 })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** A path below the root in git's form, one character per byte, because names need not be UTF-8. */
export type RawPath = string

export function splitPaths(out: Buffer): RawPath[] {
  return out.toString('latin1').split('\0').slice(0, -1)
}

/** The absolute path on disk, in bytes. */
export function onDisk(root: string, path: RawPath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
}

/** The path as text, for people and programs. */
export function readablePath(path: RawPath): string {
  return Buffer.from(path, 'latin1').toString('utf8')
}

/** The folder above a path; empty for a path directly in the root. */
export function parentOf(path: RawPath): RawPath {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0))
}

/** A mark that changes whenever the file does; empty if there is no file. */
export function fileMark(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : ''
}

/** Writes an empty file whose modification time records when something was last done. */
export function stamp(path: string, now: number): void {
  writeFileSync(path, '', { mode: 0o600 })
  utimesSync(path, now / 1000, now / 1000)
}

export function stampedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}
