import type { CarriedWork, TaskChanges, TaskFiles, TaskWorkspace, WorkCarrier } from '../core/work/task-source.ts'
import type { RemoteHub } from './remote-hub.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { HubAway } from './remote-hub.ts'
import { taskIdOf } from './task-rules.ts'

type WorkDeliveryParts = {
  hub: RemoteHub
  /** The agent's id at the hub. */
  agent: string
  /** The name of the machine that the agent works on. */
  machine: string
  workspace: TaskWorkspace
  files?: TaskFiles | undefined
  /** Brings the work to people on other machines; missing where they reach it as it is. */
  carrier?: WorkCarrier | undefined
  /** Repeats a call while the hub cannot be reached; undefined when the signal aborts. */
  reach<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T | undefined>
  tell(words: string): void
}

/** The changes of a task, committed on its branch, and the way in which people on other machines get them. */
type CollectedWork = { changes: TaskChanges; carried: CarriedWork | undefined }

/** Brings the work of an agent's tasks from its folder to the hub. */
export class WorkDelivery {
  #parts: WorkDeliveryParts

  constructor(parts: WorkDeliveryParts) {
    this.#parts = parts
  }

  /** Commits the work of a task on its branch and makes it ready to be sent; undefined where nothing was changed or changes cannot be told. */
  async collect(ticket: string, message: string, signal: AbortSignal): Promise<CollectedWork | undefined> {
    const { workspace, files, carrier, tell } = this.#parts
    await files?.clear(taskIdOf(ticket)).catch(() => {})
    const changes = await workspace.end(taskIdOf(ticket), message).catch((error) => {
      tell(`the changes of task ${ticket} could not be put on a branch: ${messageOf(error)}`)
      return undefined
    })
    if (!changes?.diff) return undefined
    const carried = await carrier?.prepare(changes, signal)
    for (const words of carried?.notes ?? []) tell(words)
    return { changes, carried }
  }

  /** Sends the diff and the bundle, and returns the facts that the hub keeps with the try. */
  async send(ticket: string, { changes, carried }: CollectedWork, signal: AbortSignal) {
    const { hub, machine } = this.#parts
    const { diff: text, cut, branch, commit, base, worktree } = changes
    const { id } = await hub.sendText(ticket, text, signal)
    if (carried) await this.#sendBundle(ticket, carried, signal)
    const { pushed, bundle } = carried ?? {}
    return { diff: defined({ id, cut }), place: defined({ machine, branch, commit, base, worktree, pushed, bundle }) }
  }

  /** Keeps work as a try of a task that the agent has lost. A hub that refuses it leaves the work on its branch. */
  async keepLate(ticket: string, work: CollectedWork | undefined, message: string, signal: AbortSignal): Promise<void> {
    if (!work) return
    const { hub, agent, reach, tell } = this.#parts
    try {
      await reach(signal, async () => {
        const sent = await this.send(ticket, work, signal)
        return hub.late(ticket, agent, { ...sent, message }, signal)
      })
    } catch (error) {
      tell(`the work of task ${ticket} stays on the branch ${work.changes.branch} here: ${messageOf(error)}`)
    }
  }

  /** Sends the parts of a bundle that the hub does not have yet. A call that is repeated goes on where the last one was cut off. */
  async #sendBundle(ticket: string, { bundle, part }: CarriedWork, signal: AbortSignal): Promise<void> {
    if (!bundle || !part) return
    const { hub } = this.#parts
    const missing = new Set(await hub.bundleMissing(ticket, bundle, signal))
    for (const [number, { id }] of bundle.parts.entries()) {
      if (!missing.delete(id)) continue
      const kept = await hub.sendPart(ticket, await part(number), signal)
      if (kept.id !== id) throw new HubAway(`part ${number + 1} of the bundle was changed on its way to the hub`)
    }
  }
}
