import type { Ran, RunOptions } from '../../base/collect.ts'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomName } from '../../base/id.ts'
import { isMissing } from '../../base/files.ts'
import { withoutGit } from '../../base/git.ts'
import { collect } from '../../base/collect.ts'

export type Env = Readonly<Record<string, string | undefined>>

export type GitOptions = Omit<RunOptions, 'cwd' | 'env'> & { index?: string; tree?: string }

/** A repository of our own that looks at the project's files; the project's own one is not opened. */
export type Repository = {
  dir: string
  root: string
  env: Env
  git(args: readonly string[], options?: GitOptions): Promise<Ran>
}

/** What of the user's configuration could change bytes, run a program or trust a stale look at a file is overruled. */
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

/** Wins over every .gitattributes, so that a tree holds the very bytes and a patch hides nothing. */
const attributes = '* -text -ident -filter !eol !crlf !working-tree-encoding !diff !export-subst\n'

export function openRepository(dir: string, root: string, env: Env): Repository {
  for (const part of ['objects', 'refs', 'info', 'work']) mkdirSync(join(dir, part), { recursive: true, mode: 0o700 })
  // Written by hand: `git init` takes as long as a whole snapshot, and two at once would fight over its locks.
  ensureFile(join(dir, 'config'), config)
  ensureFile(join(dir, 'info', 'attributes'), attributes)
  ensureFile(join(dir, 'HEAD'), 'ref: refs/heads/none\n')
  const own = { ...withoutGit(env), LC_ALL: 'C', GIT_DIR: dir, GIT_ATTR_NOSYSTEM: '1' }
  return {
    dir,
    root,
    env: own,
    git: (args, { index = join(dir, 'index'), tree = root, ...options } = {}) =>
      collect('git', args, { ...options, cwd: tree, env: { ...own, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index } }),
  }
}

/** Why there is no snapshot, in words for the person. */
export class Off extends Error {
  override name = 'Off'
}

/** The run, if it ended as it should; else its own words as an error. */
export function checked(ran: Ran, codes: readonly number[] = [0]): Ran {
  if (ran.code !== undefined && codes.includes(ran.code)) return ran
  if (ran.error && isMissing(ran.error)) throw new Off('git is not installed')
  throw new Error(ran.err.trim().split('\n').at(-1) || ran.error?.message || 'git was ended')
}

/** A name in the work folder that no other process uses. */
export function workFile(repository: Repository): string {
  return join(repository.dir, 'work', randomName())
}

/** The file as it should be; rewritten only when it is not, because every run comes by here. */
export function ensureFile(path: string, body: string): void {
  try {
    if (readFileSync(path, 'utf8') === body) return
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  // Without a wait for the disk: what a power cut tears is written again.
  const draft = join(dirname(path), `.${randomName()}`)
  writeFileSync(draft, body, { mode: 0o600 })
  renameSync(draft, path)
}
