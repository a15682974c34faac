import type { Io } from '../../../core/io.ts'
import type { TaskOrigin } from '../../model/tasks/workspace.ts'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { defined } from '../../../base/defined.ts'
import { projectRoot } from '../../../base/files/git.ts'
import { UsageError, voiceOf } from '../../../core/io.ts'
import {
  cloneAddress,
  folderIn,
  folderKey,
  hasWorkspace,
  remoteAddress,
  repositoryIn,
  repositoryKey,
  repositoryKeys,
} from '../../model/tasks/workspace.ts'
import { cloneKeys } from '../../model/tasks/clone-rules.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { repositoryFacts } from '../../../worktrees/repository-facts.ts'
import { homeOf, placeOf } from '../../../home/place.ts'
import { isOwnHub } from '../../client/hub-address.ts'

/** A workspace as a new task names it, with its origin. */
type NamedWorkspace = { workspace: string; origin: TaskOrigin }

/** The workspace of a new task: the one that was typed, otherwise that of the person's current folder. */
export function wantedWorkspace(io: Io, typed: unknown, hub: string): Promise<NamedWorkspace> {
  return typeof typed === 'string' ? workspaceNamed(io, typed, hub) : workspaceAt(io, placeOf(io).root, hub)
}

/** The workspace of a folder of this machine: its repository, or else the folder itself. */
export async function workspaceAt(io: Io, root: string, hub: string): Promise<NamedWorkspace> {
  const machine = hostname()
  const facts = await repositoryFacts(io.env, root)
  const key = facts && repositoryKey(facts)
  if (!facts || key === undefined) {
    const workspace = isOwnHub(hub) ? root : folderKey(machine, root)
    return { workspace, origin: { machine, path: root } }
  }
  await rememberRepository(io, root)
  const { branch, commit } = facts
  return {
    workspace: key,
    origin: defined({ machine, path: root, remote: cloneAddress(facts.remote), branch, commit }),
  }
}

/** The workspace that a person typed: a folder, the address of a repository, or a key. */
async function workspaceNamed(io: Io, typed: string, hub: string): Promise<NamedWorkspace> {
  const machine = hostname()
  const path = resolve(io.cwd, typed)
  if (existsSync(path)) return workspaceAt(io, projectRoot(path), hub)
  const remote = remoteAddress(typed) && cloneAddress(typed)
  const isKey = repositoryIn(typed) !== undefined || folderIn(typed)?.machine !== undefined
  if (remote !== undefined && !isKey)
    return { workspace: repositoryKey({ remote, first: [] })!, origin: { machine, path: io.cwd, remote } }
  // A folder that only the agent's machine has.
  if (isKey || isAbsolute(typed)) return { workspace: typed, origin: { machine, path: io.cwd } }
  throw new UsageError(
    `--workspace: there is no folder ${path}. Name a folder, or the address of a repository, as in https://github.com/acme/shop.`,
  )
}

/** An agent's working folder, as its hub knows it, and the keys of all workspaces that the agent has. */
export type AgentWorkspaces = { workspace: string; workspaces: string[] }

/**
 * The keys for a folder that an agent works in: those of its repository, those that the agent may clone, and that of the folder itself.
 */
export async function keysAt(
  io: Io,
  root: string,
  hub: string,
  clones: readonly string[] = [],
): Promise<AgentWorkspaces> {
  const facts = await repositoryFacts(io.env, root)
  const keys = facts ? repositoryKeys(facts) : []
  if (keys.length > 0) await rememberRepository(io, root)
  // A plain path means the hub's machine; on another machine the same path is another folder.
  const here = folderKey(hostname(), root)
  const workspace = isOwnHub(hub) ? root : here
  return { workspace, workspaces: [...new Set([...keys, ...cloneKeys(clones), workspace, here])] }
}

/** The repositories of this machine in which tasks or agents were started, the last one first. */
const bookOf = (io: Io) => fileStore(homeOf(io.env), voiceOf(io)).doc<{ roots: string[] }>('workspaces', { roots: [] })

const mostRemembered = 200

async function rememberRepository(io: Io, root: string): Promise<void> {
  const { roots } = await bookOf(io).read()
  if (roots[0] === root) return
  await bookOf(io).update((now) => ({
    roots: [root, ...now.roots.filter((one) => one !== root)].slice(0, mostRemembered),
  }))
}

/**
 * The folder of this machine for a workspace; undefined if this machine has none. The person's current folder comes first. Each
 * repository is inspected again, because another one may have replaced it.
 */
export async function rootOf(io: Io, workspace: string, here?: string): Promise<string | undefined> {
  const folder = folderIn(workspace)
  if (folder) return (folder.machine ?? hostname()) === hostname() && existsSync(folder.path) ? folder.path : undefined
  const { roots } = await bookOf(io).read()
  for (const root of [...(here === undefined ? [] : [here]), ...roots]) {
    const facts = await repositoryFacts(io.env, root)
    if (facts && hasWorkspace(repositoryKeys(facts), workspace)) return root
  }
  return undefined
}
