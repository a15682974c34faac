import type { Environment } from './worktree-git.ts'
import { existsSync, lstatSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { collect } from '../base/process/collect.ts'
import { projectGit } from '../base/git/project-git.ts'

/** Folders into which package managers install the dependencies of a project. */
const installed = new Set(['node_modules', '.venv', 'venv', 'vendor'])

/** Folders with more files are not copied, because that would take longer than installing them. */
const mostFiles = 100_000

/** `copied`: the folders that are now in the copy; `left`: those that were too large, or could not be copied. */
export type CopiedDependencies = { copied: string[]; left: string[] }

/**
 * Copies the installed dependencies of a project into a copy of it: git ignores them, and without them hardly any test runs. If the file
 * system supports that, both share their contents until one is changed; a link would let an agent change the project's own.
 */
export async function copyDependencies(
  { root, env }: { root: string; env: Environment },
  copy: string,
  signal: AbortSignal,
): Promise<CopiedDependencies> {
  const all: CopiedDependencies = { copied: [], left: [] }
  for (const folder of await ignoredFolders(root, env)) {
    const [from, to] = [join(root, folder), join(copy, folder)]
    if (signal.aborted || existsSync(to) || !lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) continue
    const done = (await holdsAtMost(from, mostFiles)) && (await copyFolder(from, to, env, signal))
    all[done ? 'copied' : 'left'].push(folder)
  }
  return all
}

/** The dependency folders that git ignores, at any depth, by their paths from the root. */
async function ignoredFolders(root: string, env: Environment): Promise<string[]> {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const { code, out } = await projectGit(env).ran(root, args)
  if (code !== 0) return []
  const paths = out.toString().split('\0')
  return paths
    .filter((path) => path.endsWith('/'))
    .map((path) => path.slice(0, -1))
    .filter((path) => installed.has(basename(path)))
}

async function holdsAtMost(folder: string, most: number): Promise<boolean> {
  let left = most
  const open = [folder]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => [])
    left -= entries.length
    if (left < 0) return false
    for (const entry of entries) if (entry.isDirectory()) open.push(join(at, entry.name))
  }
  return true
}

/** The options for `cp`: GNU's can share contents (`--reflink`); the second list works for every other one. */
const ways = [['-a', '--reflink=auto'], ['-Rp']]

async function copyFolder(from: string, to: string, env: Environment, signal: AbortSignal): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true })
  for (const way of ways) {
    const { code } = await collect('cp', [...way, from, to], { cwd: dirname(to), env, signal })
    if (code === 0) return true
    if (signal.aborted || existsSync(to)) return false
  }
  return false
}
