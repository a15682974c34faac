import type { Clock } from '../base/clock.ts'
import type { TaskChanges, TicketState, TaskSource, TaskWorkspace, WorkOrder } from '../core/work/task-source.ts'
import type { Registration } from './hub.ts'
import type { RemoteHub } from './remote-hub.ts'
import { messageOf } from '../base/error-message.ts'
import { mostFiles } from '../core/work/task-changes.ts'
import { HubAway, HubRefused } from './remote-hub.ts'
import { taskIdOf } from './task-rules.ts'

type HubTaskSourceParts = {
  hub: RemoteHub
  as: Registration
  clock: Clock
  workspace: TaskWorkspace
  /** Called when the connection to the hub is lost, and when it is back. */
  tell(words: string): void
}

const waitSeconds = 290
const firstWaitMs = 1_000
const longestWaitMs = 30_000
/** How often a task is looked up to see whether it still belongs to the agent. */
const lookMs = 5_000

/** Makes a call for an agent, and registers the agent again where the hub does not know it; what the agent said of itself there stays. */
export async function whenRegistered<T>(
  hub: Pick<RemoteHub, 'register'>,
  as: Registration,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof HubRefused) || error.status !== 404) throw error
    await hub.register(as)
    return call()
  }
}

/** A task source over a hub: every call is repeated until the hub has heard it. */
export function hubTaskSource({ hub, as, clock, workspace, tell }: HubTaskSourceParts): TaskSource {
  let away = false

  /** Repeats a call while the hub cannot be reached; undefined when the signal aborts. */
  async function reach<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T | undefined> {
    for (let wait = firstWaitMs; !signal.aborted; wait = Math.min(longestWaitMs, wait * 2)) {
      try {
        const answer = await call()
        if (away) tell(`the hub at ${hub.url} is back`)
        away = false
        return answer
      } catch (error) {
        if (signal.aborted) break
        if (!isAway(error)) throw error
        if (!away) tell(`the hub cannot be reached: ${error.message}; trying again`)
        away = true
        await clock.sleep(wait, signal)
      }
    }
    return undefined
  }

  /** Makes a call about a task; a refusal means that the task is settled or lost. */
  async function claim(ticket: string, signal: AbortSignal, call: () => Promise<unknown>): Promise<TicketState> {
    try {
      return (await reach(signal, call)) === undefined ? 'lost' : 'kept'
    } catch (error) {
      if (!(error instanceof HubRefused)) throw error
      const task = await reach(signal, () => hub.task(taskIdOf(ticket))).catch(() => undefined)
      return task?.agent === as.id && answered.has(task.state) ? 'settled' : 'lost'
    }
  }

  const say = (ticket: string, verb: string, body: object, signal: AbortSignal) =>
    claim(ticket, signal, () => hub.tell(ticket, verb, { agent: as.id, ...body }))

  return {
    async next(signal) {
      return orderOf(await reach(signal, () => whenRegistered(hub, as, () => hub.wait(as.id, waitSeconds, signal))))
    },
    async ack(ticket, signal) {
      const state = await say(ticket, 'ack', {}, signal)
      if (state !== 'kept') return state
      try {
        await workspace.begin(taskIdOf(ticket))
        return state
      } catch (error) {
        const message = `no folder to work in could be made: ${messageOf(error)}`
        await claim(ticket, signal, () => hub.respond(ticket, as.id, { status: 'FAILED', message }))
        return 'lost'
      }
    },
    progress: (ticket, text, signal) => say(ticket, 'progress', { message: text }, signal),
    block: (ticket, question, signal) => say(ticket, 'block', { reason: 'it needs an answer', question }, signal),
    async respond(ticket, report, signal) {
      const work = await workspace.end(taskIdOf(ticket), report.message).catch((error) => {
        tell(`the changes of task ${ticket} could not be put on a branch: ${messageOf(error)}`)
        return undefined
      })
      const status = report.status === 'COMPLETED' && work?.diff ? 'IN_REVIEW' : report.status
      const made = work?.diff ? madeBy(work) : {}
      const state = await claim(ticket, signal, () => hub.respond(ticket, as.id, { ...report, ...made, status }))
      // An answer that the agent sent itself does not say where its work is.
      if (state === 'settled' && work?.diff)
        await reach(signal, () =>
          hub.tell(taskIdOf(ticket), 'comment', { text: `the work is on ${work.branch}` }),
        ).catch(() => undefined)
      return state
    },
    async revoked(ticket, signal) {
      for (;;) {
        await clock.sleep(lookMs, signal)
        if (signal.aborted) return undefined
        const task = await hub.task(taskIdOf(ticket)).catch(() => undefined)
        if (task?.state === 'CANCELLED') return task.why
        if (task && task.agent !== as.id) return 'it was given to another agent'
      }
    },
    async cliPolls() {
      const { waits } = await hub.agent(as.id).catch(() => ({ waits: false }))
      return waits
    },
    // The total is sent again with the next turn, so that a lost report does no harm.
    reportUsage(total) {
      hub.spent(as.id, total).catch(() => {})
    },
  }
}

/** The changes as the hub keeps them with the task. */
function madeBy({ diff, branch, worktree, files }: TaskChanges) {
  return { diff, artifacts: [{ branch, worktree, files: files.slice(0, mostFiles) }] }
}

/** States of a task that its agent has answered itself. */
const answered: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'IN_REVIEW', 'APPROVED', 'BLOCKED'])

/** Too many requests, a hub in trouble and an absent hub are all waited out. */
function isAway(error: unknown): error is Error {
  return error instanceof HubAway || (error instanceof HubRefused && (error.status === 429 || error.status >= 500))
}

function orderOf(given: Awaited<ReturnType<RemoteHub['wait']>> | undefined): WorkOrder {
  if (given?.type === 'task')
    return { type: 'task', ticket: given.ticket, prompt: given.task.prompt, notes: given.task.notes }
  return given && given.type !== 'idle' ? given : { type: 'none' }
}
