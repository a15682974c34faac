import type { TaskOrigin } from '../hub/model/tasks/workspace.ts'
import type { RemoteParts } from './remote-git.ts'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { shortHash } from '../base/hash.ts'
import { newId } from '../base/id.ts'
import { projectGit } from '../base/git/project-git.ts'
import { runGit } from '../base/git/run-git.ts'
import { allowedAddress } from '../hub/model/tasks/clone-rules.ts'
import { cloneAddress, repositoryIn, wholeName } from '../hub/model/tasks/workspace.ts'
import { atRemote, RemoteFailed } from './remote-git.ts'
import { repositoryFacts } from './repository-facts.ts'

/** The repository of a task cannot be cloned. The message says why and what to do next. */
export class CloneRefused extends Error {
  override name = 'CloneRefused'
}

/** The longest that a clone may take, and its largest size. A task whose agent is silent for longer than half an hour is lost. */
const mostMs = 20 * 60_000
const mostBytes = 4 * 1024 ** 3

type CloneParts = RemoteParts & {
  /** The folder of all clones. */
  folder: string
  /** The patterns of the addresses that this machine may clone. */
  rules: readonly string[]
}

/** The commit of a clone from which a task begins. */
export type ClonedPlace = { root: string; commit: string }

/**
 * Clones a repository into the cache, or updates the clone, with the machine's own git credentials. No hook, template, filter or
 * submodule of the repository is used, and no file is checked out here.
 */
export async function clonedPlace(
  parts: CloneParts,
  workspace: string,
  origin: TaskOrigin | undefined,
): Promise<ClonedPlace> {
  const name = wholeName(workspace)
  const wanted = repositoryIn(workspace)
  if (!wanted) throw new CloneRefused(`${name} is a folder and not a repository, so it cannot be cloned.`)
  const address = allowedAddress(parts.rules, workspace, origin?.remote)
  if (address === undefined)
    throw new CloneRefused(
      `This machine does not allow cloning ${name}. It allows: ${parts.rules.join(', ')}. Add it to hub.clone in the settings of this machine.`,
    )
  const root = join(parts.folder, `${basename(wanted.path)}-${shortHash(`${wanted.host}/${wanted.path}`)}`)
  const limits = { ...parts, mostMs, mostBytes }
  try {
    if (!existsSync(join(root, '.git'))) await cloneInto(limits, root, address)
    else await brought(limits, root, address)
    const facts = await repositoryFacts(parts.env, root)
    if (!facts?.first.some((commit) => commit.startsWith(wanted.first)))
      throw new CloneRefused(
        `The repository at ${cloneAddress(address)} does not have the history that the task was added for (its first commit is not ${wanted.first}).`,
      )
    return { root, commit: await startingCommit(parts, root, origin) }
  } catch (error) {
    if (!(error instanceof RemoteFailed)) throw error
    throw new CloneRefused(
      `${name} could not be cloned from ${cloneAddress(address)}: ${error.message}. Try it on this machine: git ls-remote ${cloneAddress(address)}`,
    )
  }
}

/** Clones next to the final place, so that an interrupted clone is never taken for a complete one. */
async function cloneInto(parts: CloneParts, root: string, address: string): Promise<void> {
  await mkdir(dirname(root), { recursive: true, mode: 0o700 })
  const half = `${root}.${newId(parts.clock.now())}`
  try {
    const init = ['init', '--quiet', '--template=', '--initial-branch=termaite', half]
    const made = await runGit(init, { cwd: dirname(root), env: parts.env })
    if (made.code !== 0) throw new RemoteFailed(made.err.trim().split('\n').at(-1) ?? 'git init failed')
    const file = join(half, '.git', 'config')
    await runGit(['config', '--file', file, 'remote.origin.url', cloneAddress(address)!], { cwd: '/', env: parts.env })
    await brought(parts, half, address)
    // Another agent on this machine may have cloned the repository at the same time.
    if (!existsSync(join(root, '.git'))) await rename(half, root)
  } finally {
    await rm(half, { recursive: true, force: true })
  }
}

const branches = '+refs/heads/*:refs/remotes/origin/*'

async function brought(parts: CloneParts, root: string, address: string): Promise<void> {
  const told = await atRemote(parts, root, address, (at) => ['ls-remote', '--symref', '--', at, 'HEAD'])
  const [, head] = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(told) ?? []
  await atRemote(parts, root, address, (at) => [
    'fetch',
    '--progress',
    '--prune',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--',
    at,
    branches,
  ])
  if (head !== undefined)
    await projectGit(parts.env)(root, 'symbolic-ref', 'refs/remotes/origin/HEAD', `refs/remotes/origin/${head}`)
}

/**
 * The commit that the person has checked out, if the remote has it; otherwise the last commit of their branch, otherwise of the main
 * branch.
 */
async function startingCommit({ env }: CloneParts, root: string, origin: TaskOrigin | undefined): Promise<string> {
  const git = projectGit(env)
  const at = (ref: string) => git(root, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`).catch(() => '')
  const { commit, branch } = origin ?? {}
  const known = commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit) ? await at(commit) : ''
  const named = branch === undefined || known !== '' ? '' : await at(`refs/remotes/origin/${branch}`)
  const main = (await at('refs/remotes/origin/HEAD')) || (await at('refs/remotes/origin/main'))
  const found = known || named || main
  if (found === '') throw new CloneRefused(`The repository in ${root} has no commit to begin from.`)
  return found
}
