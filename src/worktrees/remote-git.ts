import type { Clock } from '../base/time/clock.ts'
import type { Environment } from './worktree-git.ts'
import { callAfter } from '../base/time/clock.ts'
import { projectGit } from '../base/git/project-git.ts'
import { cloneAddress, remoteAddress } from '../hub/model/tasks/workspace.ts'
import { remoteOf } from './repository-facts.ts'

export type RemoteParts = {
  env: Environment
  clock: Clock
  signal: AbortSignal
  /** Called with git's progress messages, at most a few times a second. */
  progress?(words: string): void
  /** The longest time for one call, and the most bytes that it may receive. */
  mostMs?: number
  mostBytes?: number
}

/** Another machine could not be reached, or refused. The message says why, and contains no login. */
export class RemoteFailed extends Error {
  override name = 'RemoteFailed'
}

/** How long a call may take if the caller sets no other limit. */
const usualMs = 30 * 60_000

/**
 * Runs git with the remote at an address and the machine's own credentials: nobody is asked, no hook and no setting of the repository is
 * used, and only the protocol of the address is allowed, even after a redirection.
 */
export async function atRemote(
  { env, clock, signal, progress, mostMs = usualMs, mostBytes = Infinity }: RemoteParts,
  root: string,
  address: string,
  args: (address: string) => readonly string[],
): Promise<string> {
  const known = remoteAddress(address)
  if (!known) throw new RemoteFailed(`${cleaned(address)} is not an address of another machine that termaite may use.`)
  const over = new AbortController()
  const done = new AbortController()
  let why: string | undefined
  const stop = (reason: string) => {
    why ??= reason
    over.abort()
  }
  callAfter(clock, mostMs, AbortSignal.any([signal, done.signal]), () =>
    stop(`it took longer than ${Math.round(mostMs / 60_000)} minutes`),
  )
  const heard = (text: string) => {
    const words = text.split(/[\r\n]/).findLast((line) => /^(?:remote: )?\w[\w ]*: +\d+%/.test(line))
    if (words !== undefined) progress?.(words.trim())
    if (receivedIn(text) <= mostBytes) return false
    stop(`it is larger than ${Math.round(mostBytes / 1024 / 1024)} MB`)
    return true
  }
  const options = { reaches: known.protocol, heard, signal: AbortSignal.any([signal, over.signal]) }
  const { code, out, err, error } = await projectGit(env).ran(root, args(address), options)
  done.abort()
  if (code === 0) return out.toString()
  if (signal.aborted) throw new RemoteFailed('it was cancelled')
  throw new RemoteFailed(why ?? error?.message ?? reasonIn(err))
}

const units: Readonly<Record<string, number>> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** The number of bytes that git reports as received: "Receiving objects:  45% (9/20), 1.20 MiB | 600 KiB/s". */
function receivedIn(text: string): number {
  const [, amount, unit] = [...text.matchAll(/, (\d+(?:\.\d+)?) (bytes|[KMG]iB)/g)].at(-1) ?? []
  return amount === undefined ? 0 : Number(amount) * (units[unit!] ?? 1)
}

/** Git's reason, on one line and without a login. */
function reasonIn(err: string): string {
  const lines = err.split('\n').map((line) => line.trim().replace(/^(?:error|fatal): /, ''))
  const told = lines.filter(
    (line) =>
      line !== '' &&
      !/^(?:remote: )?\w[\w ]*: +\d+%/.test(line) &&
      !/^(?:hint|Please make sure|and the repository)/.test(line),
  )
  const words = cleaned(told.slice(-3).join(' ')) || 'git gave no reason'
  return /could not read (?:Username|Password)|terminal prompts disabled|Permission denied|Authentication failed/.test(
    words,
  )
    ? `this machine has no git credentials for it (${words})`
    : words
}

const cleaned = (text: string) => text.replaceAll(/\/\/[^/@\s]*@/g, '//')

/** Pushes a branch to the remote of its repository, replacing an earlier push of the same branch. Returns the address without a login. */
export async function pushBranch(parts: RemoteParts, root: string, branch: string): Promise<string> {
  const remote = await remoteOf(parts.env, root)
  if (remote === undefined) throw new RemoteFailed('the repository has no remote')
  const ref = `refs/heads/${branch}`
  await atRemote(parts, root, remote, (address) => ['push', '--quiet', '--no-verify', '--', address, `+${ref}:${ref}`])
  return cloneAddress(remote)!
}

/** Fetches a branch that an agent pushed, and stores it under the name `as`. */
export async function fetchBranch(parts: RemoteParts, root: string, branch: string, as: string): Promise<void> {
  const remote = await remoteOf(parts.env, root)
  if (remote === undefined) throw new RemoteFailed('the repository has no remote')
  const refs = `refs/heads/${branch}:refs/heads/${as}`
  await atRemote(parts, root, remote, (address) => [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--',
    address,
    refs,
  ])
}
