import type { CarriedWork, TaskChanges, TaskFiles, TaskWorkspace, WorkCarrier } from '../model/tasks/task-source.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { RemoteHub } from './remote-hub.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { HubAway } from './remote-hub.ts'
import { taskIdOf } from './rules/task-rules.ts'

type WorkDeliveryParts = {
  hub: RemoteHub
  /** The agent's id at the hub. */
  agent: string
  /** The name of the machine that the agent works on. */
  machine: string
  clock: Clock
  workspace: TaskWorkspace
  files?: TaskFiles | undefined
  /** Sends the work to people on other machines; missing if they can reach it already. */
  carrier?: WorkCarrier | undefined
  /** Repeats a call while the hub cannot be reached; undefined when the signal aborts. */
  reach<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T | undefined>
  tell(words: string): void
}

/** The changes of a task, committed on its branch, and how people on other machines get them. */
type CollectedWork = { changes: TaskChanges; carried: CarriedWork | undefined }

/** Why the work of a task is on no branch, and where the work is. */
export type UncollectedWork = { why: string }

/** The pauses between attempts to commit the work, because another git process may hold the lock for a moment. */
const retryMs = [1_000, 2_000, 4_000]

/** Delivers the work of an agent's tasks from its folder to the hub. */
export class WorkDelivery {
  #parts: WorkDeliveryParts

  constructor(parts: WorkDeliveryParts) {
    this.#parts = parts
  }

  /**
   * Commits the work of a task on its branch, under the task's title, and prepares it for sending; undefined if nothing was changed or
   * the changes cannot be determined.
   */
  async collect(
    ticket: string,
    title: string,
    signal: AbortSignal,
  ): Promise<CollectedWork | UncollectedWork | undefined> {
    const { files, carrier, tell } = this.#parts
    await files?.clear(taskIdOf(ticket)).catch(() => {})
    const changes = await this.#committed(ticket, title, signal)
    if (changes && 'why' in changes) {
      tell(`task ${ticket}: ${changes.why}`)
      return changes
    }
    if (!changes?.diff) return undefined
    const carried = await carrier?.prepare(changes, signal)
    for (const words of carried?.notes ?? []) tell(words)
    return { changes, carried }
  }

  async #committed(
    ticket: string,
    title: string,
    signal: AbortSignal,
  ): Promise<TaskChanges | UncollectedWork | undefined> {
    const { workspace, clock } = this.#parts
    for (let tries = 0; ; tries++)
      try {
        return await workspace.end(taskIdOf(ticket), title)
      } catch (error) {
        const pause = retryMs[tries]
        if (pause !== undefined && !signal.aborted) {
          await clock.sleep(pause, signal)
          continue
        }
        const path = workspace.path?.()
        const where = path === undefined ? '' : ` The worktree is ${path}.`
        return { why: `the work could not be committed to a branch: ${sentence(messageOf(error))}${where}` }
      }
  }

  /** Sends the diff and the bundle, and returns the facts that the hub stores with the try. */
  async send(ticket: string, { changes, carried }: CollectedWork, signal: AbortSignal) {
    const { hub, machine } = this.#parts
    const { diff: text, cut, branch, commit, base, worktree } = changes
    const { id } = await hub.sendText(ticket, text, signal)
    if (carried) await this.#sendBundle(ticket, carried, signal)
    const { pushed, bundle } = carried ?? {}
    return { diff: defined({ id, cut }), place: defined({ machine, branch, commit, base, worktree, pushed, bundle }) }
  }

  /** Sends work for a try of a task that the agent has lost. If the hub refuses it, the work stays on its branch. */
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

  /** Sends the parts of a bundle that the hub does not have yet. A repeated call continues after the last part that was sent. */
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

const sentence = (words: string) => (words.endsWith('.') ? words : `${words}.`)
