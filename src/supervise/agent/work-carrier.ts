import type { Io } from '../../core/io.ts'
import type { CarriedWork, WorkCarrier } from '../../hub/model/tasks/task-source.ts'
import type { FoundHub } from './hub-discovery.ts'
import { join } from 'node:path'
import { messageOf } from '../../base/error-message.ts'
import { makeFolder } from '../../base/files/files.ts'
import { isOwnHub } from '../../hub/client/hub-address.ts'
import { longestBundle } from '../../hub/model/tasks/task-try.ts'
import { bundleOf, partOf, writeBundle } from '../../worktrees/work-bundle.ts'
import { pushBranch } from '../../worktrees/remote-git.ts'

type CarrierParts = {
  /** The folder in which bundles are written; each replaces the previous task's bundle. */
  folder: string
  /** Whether the branch is pushed to the remote of the repository, with the machine's own git credentials. */
  push: boolean
}

const megabytes = longestBundle / 1024 / 1024

/** The carrier of an agent's work; undefined if people can reach its repository directly, because the hub is on the same machine. */
export function carrierFor(
  io: Io,
  { place }: FoundHub,
  folder: string,
  { push, always = false }: { push: boolean; always?: boolean },
): WorkCarrier | undefined {
  return push || always || !isOwnHub(place.url) ? workCarrier(io, { folder, push }) : undefined
}

/** Sends the work of tasks to people on other machines: as a branch of the remote, or as a bundle through the hub. */
export function workCarrier(io: Io, { folder, push }: CarrierParts): WorkCarrier {
  /** The branch at the remote, or the reason why it is not there. */
  const pushed = (root: string, branch: string, signal: AbortSignal) =>
    pushBranch({ env: io.env, clock: io.clock, signal }, root, branch).then(
      (remote) => ({ remote, why: undefined }),
      (error: unknown) => ({ remote: undefined, why: messageOf(error) }),
    )
  return {
    async prepare({ worktree, branch, base, commit }, signal): Promise<CarriedWork> {
      const notes: string[] = []
      if (push) {
        const { remote, why } = await pushed(worktree, branch, signal)
        if (remote !== undefined) return { pushed: remote, notes: [`pushed ${branch} to ${remote}`] }
        notes.push(`${branch} could not be pushed, and goes to the hub instead: ${why}`)
      }
      try {
        makeFolder(folder)
        const file = join(folder, 'work.bundle')
        await writeBundle(io.env, worktree, { branch, base, commit }, file)
        const bundle = await bundleOf(file)
        if (bundle.bytes <= longestBundle) return { bundle, part: (number) => partOf(file, number), notes }
        notes.push(
          `the work of ${branch} is larger than the ${megabytes} MB that the hub keeps: it stays on this machine. Start the agent with --push to have it pushed.`,
        )
      } catch (error) {
        notes.push(`${branch} could not be written as a bundle, and stays on this machine: ${messageOf(error)}`)
      }
      return { notes }
    },
  }
}
