import type { Clock } from '../base/clock.ts'
import type { TaskWorkspace, TaskSource, TicketState, Order } from '../core/work/task-source.ts'
import type { Registration } from './hub.ts'
import type { RemoteHub } from './remote-hub.ts'
import { wordsOf } from '../base/words.ts'
import { HubAway, HubRefused } from './remote-hub.ts'
import { taskIdOf } from './task-rules.ts'

export type DutyParts = {
  hub: RemoteHub
  as: Registration
  clock: Clock
  /** Where a task is worked at. */
  bench: TaskWorkspace
  /** Told when the hub is lost, and when it is there again. */
  tell(words: string): void
}

const waitSeconds = 290
const firstWaitMs = 1_000
const longestWaitMs = 30_000
/** How often it is looked whether a task is still ours. */
const lookMs = 5_000

/** Work from a hub: while it is away nothing is lost, and everything is said again once it is back. */
export function hubDuty({ hub, as, clock, bench, tell }: DutyParts): TaskSource {
  let away = false
  const reach =
    (signal: AbortSignal) =>
    async <T>(call: () => Promise<T>): Promise<T | undefined> => {
      for (let wait = firstWaitMs; !signal.aborted; wait = Math.min(longestWaitMs, wait * 2)) {
        try {
          const answer = await call()
          if (away) tell(`the hub at ${hub.url} is back`)
          away = false
          return answer
        } catch (error) {
          if (signal.aborted) break
          if (!isLost(error)) throw error
          if (!away) tell(`the hub is lost: ${error.message}; it is tried again`)
          away = true
          await clock.sleep(wait, signal)
        }
      }
      return undefined
    }
  /** A hub that does not know us is told who we are; what an agent said of itself there stays. */
  const known = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof HubRefused) || error.status !== 404) throw error
      await hub.register(as)
      return call()
    }
  }
  const said = async (ticket: string, signal: AbortSignal, call: () => Promise<unknown>): Promise<TicketState> => {
    try {
      return (await reach(signal)(call)) === undefined ? 'lost' : 'kept'
    } catch (error) {
      if (!(error instanceof HubRefused)) throw error
      const task = await reach(signal)(() => hub.task(taskIdOf(ticket))).catch(() => undefined)
      return task?.agent === as.id && answered.has(task.state) ? 'settled' : 'lost'
    }
  }
  const told = (ticket: string, verb: string, body: object, signal: AbortSignal) =>
    said(ticket, signal, () => hub.tell(ticket, verb, { agent: as.id, ...body }))
  return {
    async next(signal) {
      const given = await reach(signal)(() => known(() => hub.wait(as.id, waitSeconds, signal)))
      return orderOf(given)
    },
    async ack(ticket, signal) {
      const heard = await told(ticket, 'ack', {}, signal)
      if (heard !== 'kept') return heard
      try {
        await bench.begin(taskIdOf(ticket))
        return heard
      } catch (error) {
        const message = `there is no place to work at it: ${wordsOf(error)}`
        await said(ticket, signal, () => hub.respond(ticket, as.id, { status: 'FAILED', message }))
        return 'lost'
      }
    },
    progress: (ticket, text, signal) => told(ticket, 'progress', { message: text }, signal),
    block: (ticket, question, signal) => told(ticket, 'block', { reason: 'it needs an answer', question }, signal),
    async respond(ticket, report, signal) {
      const work = await bench.end(taskIdOf(ticket), report.message).catch((error) => {
        tell(`what task ${ticket} changed could not be put on a branch: ${wordsOf(error)}`)
        return undefined
      })
      const status = report.status === 'COMPLETED' && work?.diff ? 'IN_REVIEW' : report.status
      const made = work?.diff ? { diff: work.diff, artifacts: [{ branch: work.branch }] } : {}
      const heard = await said(ticket, signal, () => hub.respond(ticket, as.id, { ...report, ...made, status }))
      // What it answered by itself does not say where its work is.
      if (heard === 'settled' && work?.diff)
        await reach(signal)(() =>
          hub.tell(taskIdOf(ticket), 'comment', { text: `the work is on ${work.branch}` }),
        ).catch(() => undefined)
      return heard
    },
    async lost(ticket, signal) {
      for (;;) {
        await clock.sleep(lookMs, signal)
        if (signal.aborted) return undefined
        const task = await hub.task(taskIdOf(ticket)).catch(() => undefined)
        if (task?.state === 'CANCELLED') return task.why ?? 'it was cancelled'
        if (task && task.agent !== as.id) return 'it was given to somebody else'
      }
    },
    waits: async () => {
      const { waits } = await hub.agent(as.id).catch(() => ({ waits: false }))
      return waits
    },
    spent: (all) => void hub.spent(as.id, all).catch(() => {}),
  }
}

/** States of a task that its agent has answered itself. */
const answered: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'IN_REVIEW', 'APPROVED', 'BLOCKED'])

/** Too many words at once, a hub in trouble and a hub that is not there are all waited out. */
function isLost(error: unknown): error is Error {
  return error instanceof HubAway || (error instanceof HubRefused && (error.status === 429 || error.status >= 500))
}

function orderOf(given: Awaited<ReturnType<RemoteHub['wait']>> | undefined): Order {
  if (given?.type === 'task')
    return { type: 'task', ticket: given.ticket, prompt: given.task.prompt, notes: given.task.notes }
  return given && given.type !== 'idle' ? given : { type: 'none' }
}
