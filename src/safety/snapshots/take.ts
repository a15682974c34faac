import type { Ran } from '../../base/collect.ts'
import type { Limits } from './limits.ts'
import type { RawPath } from './paths.ts'
import type { GitOptions, Repository } from './repository.ts'
import type { Rules } from './rules.ts'
import { existsSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { borrowIndex } from './index-file.ts'
import { lastTake, rememberTake } from './last-take.ts'
import { weigh } from './limits.ts'
import { onDisk, splitPaths } from './paths.ts'
import { askTidy } from './recent.ts'
import { checked, Off, workFile } from './repository.ts'

type Git = (args: readonly string[], more?: GitOptions) => Promise<Ran>

/**
 * The tree of the project as it is now. Each take works on an index of its own,
 * so processes side by side share no lock, and a killed one leaves none behind.
 */
export async function takeTree(
  repository: Repository,
  rules: Rules,
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
      survey(git, limits.files),
      last?.userIndex === userIndex ? [] : rules.forced(),
    ])
    if (last && changed.length === 0 && forced.length === 0) {
      rememberTake(repository.dir, { tree: last.tree, userIndex })
      return last.tree
    }
    const bytes = await weighed(repository.root, [...changed, ...forced], limits.bytes)
    if (bytes > muchAtOnce) askTidy(repository.dir)
    await addAll(git)
    if (forced.length > 0) await git(addForced, { input: joined(repository.root, forced) })
    const tree = treeOf(checked(await git(['write-tree'])))
    if (existsSync(index)) renameSync(index, shared)
    rememberTake(repository.dir, { tree, userIndex })
    return tree
  } finally {
    for (const path of [index, `${index}.lock`]) rmSync(path, { force: true })
  }
}

/** The tree of a folder whose index knows what was in it: what git ignores by now and knows stays in it. */
export async function addedTree(git: Git, folder: string, limits: Limits): Promise<string> {
  await weighed(folder, await survey(git, limits.files), limits.bytes)
  await addAll(git)
  return treeOf(checked(await git(['write-tree'])))
}

/** More bytes than this, and the size of the store is looked at before the day is over. */
const muchAtOnce = 64 * 1024 ** 2

const mostTries = 10

/** What cannot be read is left out, and git then ends with 1; a file that vanishes while git looks at it makes it give up, so it looks again. */
async function addAll(git: Git): Promise<void> {
  for (let tries = 1; ; tries++) {
    const ran = await git(['add', '-A', '--ignore-errors', '.'])
    if (tries === mostTries || !/unable to stat/.test(ran.err)) return void checked(ran, [0, 1])
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

/** The paths that differ from the index: few, unless it is the first time. */
async function survey(git: Git, limit: number): Promise<RawPath[]> {
  let seen = 0
  const enough = (chunk: Uint8Array) => {
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) seen++
    return seen > limit
  }
  const ran = await git(['ls-files', '-z', '-o', '-m', '--exclude-standard'], { enough })
  if (seen > limit) throw new Off(`more than ${limit} files changed at once; add what is generated to .gitignore`)
  return splitPaths(checked(ran).out)
}

async function weighed(root: string, paths: readonly RawPath[], limit: number): Promise<number> {
  const bytes = await weigh(
    paths.map((path) => onDisk(root, path)),
    limit,
  )
  if (bytes > limit) throw new Off(`more than ${amount(limit)} changed at once; add what is generated to .gitignore`)
  return bytes
}

function amount(bytes: number): string {
  return bytes < 1024 ** 2 ? `${bytes} bytes` : `${Math.round(bytes / 1024 ** 2)} MB`
}

/** Git takes no path that is not there. */
function joined(root: string, paths: readonly RawPath[]): Buffer {
  const present = paths.filter((path) => lstatSync(onDisk(root, path), { throwIfNoEntry: false }))
  return Buffer.from(present.map((path) => `${path}\0`).join(''), 'latin1')
}

function treeOf(ran: Ran): string {
  return ran.out.toString('latin1').trim()
}
