import type { Clock } from '../../base/time/clock.ts'
import type { HubAct, HubAuditBook } from '../model/access/hub-audit.ts'
import type { HubCaller } from '../model/access/hub-key.ts'
import type { HubTool } from './access/hub-tool.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { HubError, taskIdOf } from './rules/task-rules.ts'

/** An act of a client, and its result. */
type Seen = { caller: HubCaller; act: string; on?: string; status: number }

type AuditTrailParts = {
  book: HubAuditBook
  clock: Clock
  /** Warns the person who runs the hub that acts cannot be recorded. */
  tell?(words: string): void
}

/** The most acts that wait while the audit log cannot be written; beyond that the oldest are dropped. */
const mostWaiting = 10_000
/** A client may send an id of any length. */
const longestSubject = 128

/**
 * Records every act of the hub's clients before the hub answers it. Acts of the same moment are written together. If the hub is killed,
 * an act that it had not answered may be missing: the act is written after the change that it made.
 */
export class AuditTrail {
  #parts: AuditTrailParts
  #addresses = new WeakMap<HubCaller, string>()
  #waiting: HubAct[] = []
  #writing: Promise<void> = Promise.resolve()
  /** The next write, which waits for the one under way. */
  #next: Promise<void> | undefined
  #failed = ''
  /** The time of the last act: the times of one hub never go backwards. */
  #latest = 0

  constructor(parts: AuditTrailParts) {
    this.#parts = parts
  }

  get book(): HubAuditBook {
    return this.#parts.book
  }

  /** Notes the address that a client's request came from, for all acts of this request. */
  came(caller: HubCaller, address: string): void {
    this.#addresses.set(caller, address)
  }

  async note({ caller, act, on, status }: Seen): Promise<void> {
    const { id: key, name: by, role } = caller
    const address = this.#addresses.get(caller)
    const outcome = status < 400 ? 'done' : status === 401 || status === 403 ? 'refused' : 'failed'
    const at = (this.#latest = Math.max(this.#latest, this.#parts.clock.now()))
    this.#waiting.push(defined({ at, by, key, role, address, act, on: on?.slice(0, longestSubject), outcome, status }))
    return this.flush()
  }

  /** Wraps a tool so that its calls are recorded, unless the tool only reads. */
  watched(tool: HubTool, caller: HubCaller): HubTool {
    if (tool.risk === 'read') return tool
    const note = (status: number, on: string | undefined) =>
      this.note(defined({ caller, act: `mcp ${tool.name}`, on, status }))
    return {
      ...tool,
      run: async (input, call) => {
        const named = subjectOf(input)
        try {
          const said = await tool.run(input, call)
          const given = typeof said === 'string' ? undefined : subjectOf(said.data)
          // A wait that returned nothing is not an act.
          if (tool.name !== 'wait_for_prompt' || given !== undefined) await note(200, named ?? given)
          return said
        } catch (error) {
          await note(error instanceof HubError && error.kind === 'forbidden' ? 403 : 400, named)
          throw error
        }
      },
    }
  }

  /** Writes the waiting acts. If the audit log cannot be written, warns once and tries again with the next act. */
  flush(): Promise<void> {
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined
      return (this.#writing = this.#write())
    })
    return this.#next
  }

  async close(): Promise<void> {
    await this.flush()
    await this.#parts.book.close()
  }

  async #write(): Promise<void> {
    const acts = this.#waiting
    if (acts.length === 0) return
    this.#waiting = []
    try {
      await this.#parts.book.add(acts)
      this.#failed = ''
    } catch (error) {
      this.#waiting = [...acts, ...this.#waiting].slice(-mostWaiting)
      const words = messageOf(error)
      if (words !== this.#failed) this.#parts.tell?.(`acts at the hub cannot be kept: ${words}`)
      this.#failed = words
    }
  }
}

/** The id of the subject of an input or a result; for an agent's ticket, the id of its task. */
export function subjectOf(data: unknown): string | undefined {
  const { taskId, id, agentId, pipelineId, scheduleId, ...others } = (data ?? {}) as Record<string, unknown>
  const { key, link, task, signIn, pipeline, invite } = others
  if (typeof taskId === 'string') return taskIdOf(taskId)
  for (const each of [id, agentId, pipelineId, scheduleId]) if (typeof each === 'string') return each
  for (const each of [key, link, task, signIn, pipeline, invite])
    if (typeof each === 'object' && each !== null && typeof (each as { id?: unknown }).id === 'string')
      return (each as { id: string }).id
  return undefined
}
