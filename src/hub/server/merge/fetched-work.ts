import type { Io } from '../../../core/io.ts'
import type { TaskTry, TryBundle } from '../../model/tasks/task-try.ts'
import type { Task } from '../../model/tasks/task.ts'
import type { Unbundled } from '../../../worktrees/work-bundle.ts'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { messageOf } from '../../../base/error-message.ts'
import { HubAway } from '../../engine/remote-hub.ts'
import { fetchBranch, RemoteFailed } from '../../../worktrees/remote-git.ts'
import { branchOf } from '../../../worktrees/task-branches.ts'
import { bundleOf, BundleRefused, unbundle } from '../../../worktrees/work-bundle.ts'

/** Reads the bytes of a try's bundle, starting at an offset. */
export type BundleReader = (task: string, number: number, from: number) => AsyncIterable<Uint8Array>

/** A branch that was fetched into a repository of this machine. */
export type FetchedWork = { branch: string; root: string; how: Unbundled; try: number }

/** How often an interrupted download is continued, and the pause before that. */
const mostCuts = 5
const pauseMs = 1_000

/** The branch name for a try: the task's branch for its newest work, otherwise a name with the number of the try. */
export function branchOfTry({ id, tries = [] }: Task, { number, late }: TaskTry): string {
  const newest = tries.findLast((one) => !one.late && (one.bundle ?? one.pushed ?? one.branch) !== undefined)
  return late || newest?.number !== number ? `${branchOf(id)}-try-${number}` : branchOf(id)
}

/** Fetches the branch of a try into the repository at `root`, from the hub or from the remote that has it. Throws BundleRefused. */
export async function fetchWork(
  io: Pick<Io, 'env' | 'clock' | 'signal'>,
  task: Task,
  one: TaskTry,
  root: string,
  read: BundleReader,
): Promise<FetchedWork> {
  const { number, bundle, pushed, branch, commit } = one
  const as = branchOfTry(task, one)
  if (bundle && commit !== undefined) {
    // The hub has an older try of the task, so its branch here may be moved.
    const mayMove = (old: string) => task.tries?.some((each) => each.commit === old && each.bundle) === true
    const folder = await mkdtemp(join(io.env.TMPDIR || tmpdir(), 'termaite-work-'))
    try {
      const file = join(folder, 'work.bundle')
      await downloadBundle(io, bundle, file, (from) => read(task.id, number, from))
      return { branch: as, root, try: number, how: await unbundle(io.env, root, file, { as, commit, mayMove }) }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  if (pushed !== undefined && branch !== undefined) {
    await fetchBranch(io, root, branch, as).catch((error: unknown) => {
      throw error instanceof RemoteFailed
        ? new BundleRefused(`${branch} could not be fetched from ${pushed}: ${messageOf(error)}`)
        : error
    })
    return { branch: as, root, try: number, how: 'new' }
  }
  const where = one.machine === undefined ? 'on the machine of its agent' : `on the machine ${one.machine}`
  throw new BundleRefused(
    branch === undefined
      ? `Try ${number} left no branch.`
      : `The branch ${branch} is only ${where}: its agent neither pushed it nor sent it to the hub. Read it with: termaite task diff ${task.id.slice(-8)}`,
  )
}

/** Downloads a bundle; an interrupted download continues. The checksum is compared at the end. */
async function downloadBundle(
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
  bundle: TryBundle,
  file: string,
  read: (from: number) => AsyncIterable<Uint8Array>,
): Promise<void> {
  let at = 0
  const counted = async function* () {
    for await (const chunk of read(at)) {
      at += chunk.length
      if (at > bundle.bytes) throw new BundleRefused('The hub sent more than the bundle has. Try again.')
      yield chunk
    }
  }
  for (let cuts = 0; ; cuts++) {
    try {
      await pipeline(counted(), createWriteStream(file, { flags: at === 0 ? 'w' : 'r+', start: at }), { signal })
      break
    } catch (error) {
      if (!(error instanceof HubAway) || cuts >= mostCuts) throw error
      // The download continues after the bytes that were written before the connection broke.
      at = (await stat(file).catch(() => ({ size: 0 }))).size
      await clock.sleep(pauseMs, signal)
    }
  }
  const { id, bytes } = await bundleOf(file)
  if (bytes !== bundle.bytes || id !== bundle.id)
    throw new BundleRefused('The bundle was changed on its way from the hub: its checksum is another one. Try again.')
}
