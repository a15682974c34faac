import type { Clock } from '../base/clock.ts'
import type { Attachment } from '../core/work/attachment.ts'
import type {
  RanCheck,
  TaskChecks,
  TaskChanges,
  TicketState,
  TaskSource,
  TaskWorkspace,
  CarriedWork,
  WantedWorkspace,
  WorkCarrier,
  WorkOrder,
  TaskFiles,
} from '../core/work/task-source.ts'
import type { Registration } from './hub.ts'
import type { RemoteHub } from './remote-hub.ts'
import type { SentCheck } from './task-texts.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { wholeName } from '../core/work/workspace.ts'
import { attachmentsText } from '../core/work/attachment.ts'
import { HubAway, HubRefused } from './remote-hub.ts'
import { isPausedAt, taskIdOf } from './task-rules.ts'

type HubTaskSourceParts = {
  hub: RemoteHub
  as: Registration
  clock: Clock
  workspace: TaskWorkspace
  /** Runs the checks of the workspace before the work is reviewed. */
  checks?: TaskChecks | undefined
  /** Keeps checks that termaite ran, under the key of a person. */
  vouch?: ((task: string, checks: SentCheck[], signal: AbortSignal) => Promise<unknown>) | undefined
  files?: TaskFiles
  /** Brings the work to people on other machines; missing where they reach it as it is. */
  carrier?: WorkCarrier | undefined
  /** The name of the machine that the agent works on. */
  machine: string
  /** Called when the connection to the hub is lost, and when it is back. */
  tell(words: string): void
}

/** A wait is short enough that an agent whose connection died without a word, as on a laptop that slept, is soon back. */
const waitSeconds = 60
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
export function hubTaskSource({
  hub,
  as,
  clock,
  workspace,
  machine,
  files,
  carrier,
  checks,
  vouch,
  tell,
}: HubTaskSourceParts): TaskSource {
  let away = false
  /** The files of the task that was given last. */
  let attached: readonly Attachment[] = []
  /** The workspace of that task. */
  let wanted: WantedWorkspace = { workspace: as.workspace }

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
      if (task && isPausedAt(task, as.id)) return 'lost'
      return task?.agent === as.id && answered.has(task.state) ? 'settled' : 'lost'
    }
  }

  /** Sends the diff, and returns what the hub keeps with the try. */
  async function sent(ticket: string, work: TaskChanges, carried: CarriedWork | undefined, signal: AbortSignal) {
    const { diff: text, cut, branch, commit, base, worktree } = work
    const { id } = await hub.sendText(ticket, text, signal)
    if (carried) await sendBundle(ticket, carried, signal)
    const { pushed, bundle } = carried ?? {}
    return { diff: defined({ id, cut }), place: defined({ machine, branch, commit, base, worktree, pushed, bundle }) }
  }

  /** Sends the parts of a bundle that the hub does not have yet. A call that is repeated goes on where the last one was cut off. */
  async function sendBundle(ticket: string, { bundle, part }: CarriedWork, signal: AbortSignal): Promise<void> {
    if (!bundle || !part) return
    const missing = new Set(await hub.bundleMissing(ticket, bundle, signal))
    for (const [number, { id }] of bundle.parts.entries()) {
      if (!missing.delete(id)) continue
      const kept = await hub.sendPart(ticket, await part(number), signal)
      if (kept.id !== id) throw new HubAway(`part ${number + 1} of the bundle was changed on its way to the hub`)
    }
  }

  /** The work of a task, committed on its branch and ready to be sent; undefined where nothing was changed or changes cannot be told. */
  async function finished(ticket: string, message: string, signal: AbortSignal) {
    await files?.clear(taskIdOf(ticket)).catch(() => {})
    const work = await workspace.end(taskIdOf(ticket), message).catch((error) => {
      tell(`the changes of task ${ticket} could not be put on a branch: ${messageOf(error)}`)
      return undefined
    })
    if (!work?.diff) return undefined
    const carried = await carrier?.prepare(work, signal)
    for (const words of carried?.notes ?? []) tell(words)
    return { work, carried }
  }

  /** Keeps work as a try of a task that the agent has lost. A hub that refuses it leaves the work on its branch. */
  async function keepLate(
    ticket: string,
    done: Awaited<ReturnType<typeof finished>>,
    message: string,
    signal: AbortSignal,
  ) {
    if (!done) return
    try {
      await reach(signal, async () => {
        const made = await sent(ticket, done.work, done.carried, signal)
        return hub.late(ticket, as.id, { ...made, message }, signal)
      })
    } catch (error) {
      tell(`the work of task ${ticket} stays on the branch ${done.work.branch} here: ${messageOf(error)}`)
    }
  }

  /** Whether the hub has paused the task at this agent, which gets it again with its work. */
  async function isPaused(ticket: string, signal: AbortSignal): Promise<boolean> {
    const task = await reach(signal, () => hub.task(taskIdOf(ticket))).catch(() => undefined)
    return task !== undefined && isPausedAt(task, as.id)
  }

  /** Runs the checks; they are stopped when the task is taken away meanwhile. */
  async function checked(ticket: string, work: TaskChanges, signal: AbortSignal): Promise<RanCheck[]> {
    if (!checks) return []
    const over = new AbortController()
    const lost = new AbortController()
    // Ends with the checks.
    void revoked(ticket, AbortSignal.any([signal, over.signal])).then((why) => why !== undefined && lost.abort())
    const begins = (command: string) => {
      // The task is not lost by a report that fails.
      say(ticket, 'progress', { message: `The checks run: ${command}` }, signal).catch(() => {})
    }
    try {
      return await checks.run(work, AbortSignal.any([signal, lost.signal]), begins)
    } catch (error) {
      tell(`the checks of task ${ticket} could not be run: ${messageOf(error)}`)
      return []
    } finally {
      over.abort()
      await workspace.restore?.().catch(() => {})
    }
  }

  /** Sends the checks under the person's key, because the agent has its own key too; without one they are what the agent says. */
  async function reported(ticket: string, ran: readonly RanCheck[], signal: AbortSignal) {
    const sent: SentCheck[] = []
    for (const { whole: text, ...check } of ran) {
      const whole = text === undefined ? undefined : (await hub.sendText(ticket, text, signal)).id
      sent.push(defined({ ...check, whole }))
    }
    if (!vouch) return { evidence: sent }
    await vouch(taskIdOf(ticket), sent, signal)
    return {}
  }

  /** Prepares the folder of a task, which may take long where it is cloned first. A task that is taken away meanwhile stops that. */
  async function begun(ticket: string, signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    const lost = new AbortController()
    // Ends with the preparation.
    void revoked(ticket, AbortSignal.any([signal, over.signal])).then((why) => why !== undefined && lost.abort())
    try {
      await workspace.begin(taskIdOf(ticket), wanted, AbortSignal.any([signal, lost.signal]))
    } finally {
      over.abort()
    }
  }

  async function revoked(ticket: string, signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      await clock.sleep(lookMs, signal)
      if (signal.aborted) return undefined
      const task = await hub.task(taskIdOf(ticket)).catch(() => undefined)
      if (task?.state === 'CANCELLED') return task.why
      if (task && isPausedAt(task, as.id)) return `it is paused: ${task.why}`
      if (task && task.agent !== as.id) return 'it was given to another agent'
    }
  }

  const say = (ticket: string, verb: string, body: object, signal: AbortSignal) =>
    claim(ticket, signal, () => hub.tell(ticket, verb, { agent: as.id, ...body }))

  return {
    async next(signal) {
      const given = await reach(signal, () => whenRegistered(hub, as, () => hub.wait(as.id, waitSeconds, signal)))
      attached = (given?.type === 'task' && files && given.task.attachments) || []
      if (given?.type === 'task') wanted = { workspace: given.task.workspace, origin: given.task.origin }
      const order = orderOf(given)
      if (order.type !== 'task') return order
      const folder = workspace.folder?.(taskIdOf(order.ticket), wanted)
      const named = attached.map(({ name, media }) => ({ path: files!.path(taskIdOf(order.ticket), name), media }))
      const words = [
        ...(folder === undefined ? [] : [folderWords(folder, wanted.workspace)]),
        order.prompt,
        ...(named.length === 0 ? [] : [attachmentsText(named)]),
      ]
      return { ...order, prompt: words.join('\n\n') }
    },
    async ack(ticket, signal) {
      const state = await say(ticket, 'ack', {}, signal)
      if (state !== 'kept') return state
      try {
        await begun(ticket, signal)
        for (const [at, { name }] of attached.entries()) {
          const body = await reach(signal, () => hub.attachment(taskIdOf(ticket), at + 1, signal))
          if (!body) return 'lost'
          await files?.save(taskIdOf(ticket), name, body)
        }
        return state
      } catch (error) {
        const message = `the folder to work in could not be prepared: ${messageOf(error)}`
        await claim(ticket, signal, () => hub.respond(ticket, as.id, { status: 'FAILED', message }))
        return 'lost'
      }
    },
    progress: (ticket, text, signal) => say(ticket, 'progress', { message: text }, signal),
    block: (ticket, question, signal) => say(ticket, 'block', { reason: 'it needs an answer', question }, signal),
    async respond(ticket, report, signal) {
      const done = await finished(ticket, report.message, signal)
      const status = report.status === 'COMPLETED' && done ? 'IN_REVIEW' : report.status
      const ran = done && status !== 'FAILED' ? await checked(ticket, done.work, signal) : []
      const state = await claim(ticket, signal, async () => {
        const made = done ? await sent(ticket, done.work, done.carried, signal) : {}
        const evidence = ran.length > 0 ? await reported(ticket, ran, signal) : {}
        return hub.respond(ticket, as.id, { ...report, ...made, ...evidence, status })
      })
      // An answer that the agent sent itself says neither where its work is nor what its checks gave.
      if (state === 'settled' && ran.length > 0 && vouch)
        await reach(signal, () => reported(ticket, ran, signal)).catch(() => undefined)
      if (state === 'settled' && done)
        await reach(signal, () =>
          hub.tell(taskIdOf(ticket), 'comment', { text: `the work is on ${done.work.branch}` }),
        ).catch(() => undefined)
      // An agent that was cut off for longer than its lease finds another agent at the task; only that one's answer counts.
      if (state === 'lost' && !signal.aborted && !(await isPaused(ticket, signal)))
        await keepLate(ticket, done, report.message, signal)
      return state
    },
    async abandoned(ticket, why, signal) {
      if (await isPaused(ticket, signal)) return
      const message = `The work was stopped before it was done: ${why}.`
      await keepLate(ticket, await finished(ticket, message, signal), message, signal)
    },
    revoked,
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

/** States of a task that its agent has answered itself. */
const answered: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'IN_REVIEW', 'APPROVED', 'BLOCKED'])

/** Tells an agent where the folder of its task is. */
const folderWords = (folder: string, workspace: string) =>
  `Work in the folder ${folder}. It is a checkout of ${wholeName(workspace)} on a branch of its own for this task. Change files only there. What you leave there is committed for you.`

/** Too many requests, a hub in trouble and an absent hub are all waited out. */
function isAway(error: unknown): error is Error {
  return error instanceof HubAway || (error instanceof HubRefused && (error.status === 429 || error.status >= 500))
}

function orderOf(given: Awaited<ReturnType<RemoteHub['wait']>> | undefined): WorkOrder {
  if (given?.type === 'task')
    return { type: 'task', ticket: given.ticket, prompt: given.task.prompt, notes: given.task.notes }
  return given && given.type !== 'idle' ? given : { type: 'none' }
}
