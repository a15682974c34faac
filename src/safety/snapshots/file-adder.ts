import type { Ran } from '../../base/process/collect.ts'
import type { Limits } from './retention.ts'
import type { GitOptions, RawPath } from './snapshot-repository.ts'
import { existsSync, lstatSync } from 'node:fs'
import { nestedRepositoriesIn } from '../../base/files/git.ts'
import { tellsFullDisk } from '../../base/files/system-error.ts'
import { checked, onDisk, readablePath, splitPaths } from './snapshot-repository.ts'

export type Git = (args: readonly string[], more?: GitOptions) => Promise<Ran>

const packed = ['-c', 'core.bigFileThreshold=1', '-c', 'core.compression=1', '-c', 'pack.compression=1']

/** Adds very many files in portions, with a call of `done` after each. Files that git refuses here are left to `addAll`. */
export async function addMany(git: Git, paths: readonly RawPath[], { packs }: Limits, done: () => void): Promise<void> {
  if (paths.length <= packs.from) return
  for (let from = 0; from < paths.length; from += packs.files) {
    // A nested repository is listed with a slash at its end.
    const input = asInput(paths.slice(from, from + packs.files).filter((path) => !path.endsWith('/')))
    const args = [...packed, 'update-index', '--add', '--remove', '-z', '--stdin']
    const ran = await git(args, { input })
    if (ran.code === undefined) checked(ran)
    if (ran.code === 0) done()
    else if (tellsFullDisk(ran.err)) checked(ran)
  }
}

const mostTries = 10

/**
 * Unreadable files are left out, which makes git exit with 1; a readable file must not be missing from the tree, because an undo would
 * delete it. If a file disappears while git reads it, git gives up, so it is run again. Nested repositories in the index are left out
 * too: git would start itself in each of them, with a stranger's settings. `index` is passed because it may not exist yet, and is then
 * empty. Returns those repositories.
 */
export async function addAll(git: Git, root: string, index?: string): Promise<RawPath[]> {
  for (let tries = 1; ; tries++) {
    const isEmpty = index !== undefined && !existsSync(index)
    const nested = isEmpty ? [] : nestedRepositoriesIn(checked(await git(['ls-files', '-z', '-s'])).out, root)
    if (nested.length > 0) await git(['update-index', '-z', '--stdin'], { input: asInput(nested) })
    const input = asInput(['.', ...nested.map((path) => `:(exclude,literal)${path}`)])
    const ran = await git(['add', '-A', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'], { input })
    if (tries === mostTries || !/unable to stat/.test(ran.err)) {
      checked(ran, [0, 1])
      if (ran.code === 1) await checkLeftOut(git, ran)
      return nested
    }
  }
}

/** Throws if git left out a file that it can read, as it does when the disk is full. */
async function checkLeftOut(git: Git, ran: Ran): Promise<void> {
  if (tellsFullDisk(ran.err)) checked({ ...ran, code: 128 })
  const { out } = await git(['ls-files', '-z', '-o', '-m', '--exclude-standard'])
  for (const path of splitPaths(out).slice(0, mostTried)) {
    const { code } = await git(['hash-object', '--no-filters', '--', readablePath(path)])
    if (code === 0) throw new Error(`git did not copy ${readablePath(path)}: ${ran.err.trim().split('\n')[0]}`)
  }
}

/** A full disk affects every file after the first one, so only this many are tried. */
const mostTried = 5

const forcedArgs = [
  '--literal-pathspecs',
  'add',
  '-f',
  '--ignore-errors',
  '--pathspec-from-file=-',
  '--pathspec-file-nul',
]

/** Adds files that git would ignore. Missing ones are left out, because git would fail on them. */
export async function addForced(git: Git, root: string, paths: readonly RawPath[]): Promise<void> {
  const present = paths.filter((path) => lstatSync(onDisk(root, path), { throwIfNoEntry: false }))
  if (paths.length > 0) await git(forcedArgs, { input: asInput(present) })
}

const asInput = (paths: readonly RawPath[]) => Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')
