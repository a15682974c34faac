import type { Clock } from '../../base/time/clock.ts'
import type { Spent } from '../../core/work/budget.ts'
import type { Attachment } from '../model/tasks/attachment.ts'
import type {
  BlockedReport,
  RanCheck,
  TaskChecks,
  TaskChanges,
  TicketState,
  TaskReport,
  TaskSource,
  TaskWorkspace,
  WantedWorkspace,
  WorkCarrier,
  WorkOrder,
  TaskFiles,
  TaskStart,
} from '../model/tasks/task-source.ts'
import type { Registration } from './hub.ts'
import type { RemoteHub } from './remote-hub.ts'
import type { SentCheck } from './texts/task-texts.ts'
import type { UncollectedWork } from './work-delivery.ts'
import { defined } from '../../base/defined.ts'
import { messageOf } from '../../base/error-message.ts'
import { isDiskFull } from '../../base/files/system-error.ts'
import { wholeName } from '../model/tasks/workspace.ts'
import { attachmentsText } from '../model/tasks/attachment.ts'
import { HubAway, HubRefused } from './remote-hub.ts'
import { isHeld, isPausedAt, taskIdOf } from './rules/task-rules.ts'
import { taskTitle } from '../model/tasks/task.ts'
import { UnfitTask } from '../model/tasks/task-source.ts'
import { WorkDelivery } from './work-delivery.ts'

type HubTaskSourceParts = {
  hub: RemoteHub
  as: Registration
  clock: Clock
  workspace: TaskWorkspace
  /** Runs the checks of the workspace before the work is reviewed. */
  checks?: TaskChecks | undefined
  /** Stores the results of checks that termaite ran, under a person's key. */
  vouch?: ((task: string, checks: SentCheck[], signal: AbortSignal) => Promise<unknown>) | undefined
  files?: TaskFiles
  /** Sends the work to people on other machines; missing if they can reach it already. */
  carrier?: WorkCarrier | undefined
  /** The name of the machine that the agent works on. */
  machine: string
  /** Called when the connection to the hub is lost, and when it is restored. */
  tell(words: string): void
}

/**
 * How long one wait at the hub lasts. It is short, so that an agent whose connection died silently, as on a laptop that slept, soon waits
 * again.
 */
const waitSeconds = 60
const firstWaitMs = 1_000
const longestWaitMs = 30_000
/** How often a task is looked up to see whether it still belongs to the agent. */
const lookMs = 5_000

/**
 * Makes a call for an agent. If the hub does not know the agent, registers it and repeats the call; the agent keeps the status that the
 * hub still has for it.
 */
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

/** A task source that gets its tasks from a hub: every call is repeated until the hub has received it. */
export class HubTaskSource implements TaskSource {
  #parts: HubTaskSourceParts
  #delivery: WorkDelivery
  #away = false
  /** The files of the current task. */
  #attached: readonly Attachment[] = []
  /** The workspace of the current task. */
  #wanted: WantedWorkspace
  /** The title of the current task, with its ticket. */
  #titled: { ticket: string; title: string } | undefined

  constructor(parts: HubTaskSourceParts) {
    this.#parts = parts
    this.#delivery = new WorkDelivery({
      ...parts,
      agent: parts.as.id,
      reach: (signal, call) => this.#reach(signal, call),
    })
    this.#wanted = { workspace: parts.as.workspace }
  }

  async next(signal: AbortSignal): Promise<WorkOrder> {
    const { hub, as, files, workspace } = this.#parts
    const given = await this.#reach(signal, () =>
      whenRegistered(hub, as, () => hub.wait(as.id, waitSeconds, signal)),
    ).catch((error: unknown) => {
      if (error instanceof HubRefused) return { type: 'refused' as const, why: refusalWords(error, hub.url, as.id) }
      throw error
    })
    this.#attached = (given?.type === 'task' && files && given.task.attachments) || []
    if (given?.type === 'task') this.#wanted = { workspace: given.task.workspace, origin: given.task.origin }
    const order = orderOf(given)
    if (order.type !== 'task') return order
    if (given?.type === 'task') this.#titled = { ticket: order.ticket, title: taskTitle(given.task) }
    const folder = workspace.folder?.(taskIdOf(order.ticket), this.#wanted)
    const named = this.#attached.map(({ name, media }) => ({ path: files!.path(taskIdOf(order.ticket), name), media }))
    const words = [
      ...(folder === undefined ? [] : [folderWords(folder, this.#wanted.workspace)]),
      order.prompt,
      ...(named.length === 0 ? [] : [attachmentsText(named)]),
    ]
    return { ...order, prompt: words.join('\n\n') }
  }

  async ack(ticket: string, signal: AbortSignal): Promise<TaskStart> {
    const { hub, as, workspace } = this.#parts
    const state = await this.#say(ticket, 'ack', {}, signal)
    if (state !== 'kept') return state
    try {
      // The repository may have to be cloned first, which can take long.
      const begun = await this.#whileHeld(ticket, signal, (held) =>
        this.#withRoom(held, () => workspace.begin(taskIdOf(ticket), this.#wanted, held)),
      )
      if (!(await this.#saveAttachments(ticket, signal))) return 'lost'
      return begun === 'remade' ? 'moved' : state
    } catch (error) {
      const message = `the folder to work in could not be prepared: ${messageOf(error)}`
      const isOnlyThis = error instanceof UnfitTask || error instanceof HubRefused
      if (!isOnlyThis) return this.#giveBack(ticket, message, signal)
      await this.#claim(ticket, signal, () => hub.respond(ticket, as.id, { status: 'FAILED', message }))
      return 'lost'
    }
  }

  /** Repeats work that needs disk space until there is enough: a full disk does not stop an agent. */
  async #withRoom<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { clock, tell } = this.#parts
    for (let wait = firstWaitMs; ; wait = Math.min(longestWaitMs, wait * 2))
      try {
        return await work()
      } catch (error) {
        if (signal.aborted || !isDiskFull(error)) throw error
        if (wait === firstWaitMs) tell(`the folder to work in cannot be prepared: ${messageOf(error)}; trying again`)
        await clock.sleep(wait, signal)
      }
  }

  /** Puts a task back into the queue for other agents, because this agent has no folder to work in. */
  async #giveBack(ticket: string, why: string, signal: AbortSignal): Promise<TaskStart> {
    const { hub, as } = this.#parts
    const isOurs = async () => {
      const task = await this.#reach(signal, () => hub.task(taskIdOf(ticket))).catch(() => undefined)
      return task?.agent === as.id && isHeld(task)
    }
    // If the task was taken away while its folder was being prepared, the failure says nothing about the folder.
    if (signal.aborted || !(await isOurs())) return 'lost'
    // An older hub does not support this verb; it takes the task back itself once the agent has been silent for too long.
    await this.#say(ticket, 'release', { reason: why }, signal)
    return { unready: why }
  }

  progress(ticket: string, text: string, signal: AbortSignal): Promise<TicketState> {
    return this.#say(ticket, 'progress', { message: text }, signal)
  }

  block(ticket: string, question: string, signal: AbortSignal): Promise<TicketState> {
    return this.#say(ticket, 'block', { reason: 'it needs an answer', question }, signal)
  }

  async respond(ticket: string, report: TaskReport, signal: AbortSignal): Promise<TicketState | BlockedReport> {
    const { hub, as, vouch } = this.#parts
    const work = await this.#delivery.collect(ticket, await this.#title(ticket, signal), signal)
    if (work && 'why' in work) return this.#respondWithout(ticket, report, work, signal)
    const status = report.status === 'COMPLETED' && work ? 'IN_REVIEW' : report.status
    const ran = work && status !== 'FAILED' ? await this.#runChecks(ticket, work.changes, signal) : []
    const state = await this.#claim(ticket, signal, async () => {
      const sent = work ? await this.#delivery.send(ticket, work, signal) : {}
      const evidence = ran.length > 0 ? await this.#sendChecks(ticket, ran, signal) : {}
      return hub.respond(ticket, as.id, { ...report, ...sent, ...evidence, status })
    })
    // An answer that the agent sent itself lacks the place of its work and the results of its checks.
    if (state === 'settled' && ran.length > 0 && vouch)
      await this.#reach(signal, () => this.#sendChecks(ticket, ran, signal)).catch(() => undefined)
    if (state === 'settled' && work)
      await this.#reach(signal, () =>
        hub.tell(taskIdOf(ticket), 'comment', { text: `the work is on ${work.changes.branch}` }),
      ).catch(() => undefined)
    // If an agent was cut off for longer than its lease, another agent may have the task; only that agent's answer counts.
    if (state === 'lost' && !signal.aborted && !(await this.#isPaused(ticket, signal)))
      await this.#delivery.keepLate(ticket, work, report.message, signal)
    return state
  }

  async abandoned(ticket: string, why: string, signal: AbortSignal): Promise<void> {
    if (await this.#isPaused(ticket, signal)) return
    const message = `The work was stopped before it was done: ${why}.`
    const work = await this.#delivery.collect(ticket, await this.#title(ticket, signal), signal)
    if (work && 'changes' in work) await this.#delivery.keepLate(ticket, work, message, signal)
  }

  /** The title of a task. If an earlier process got the task, the hub is asked for its title. */
  async #title(ticket: string, signal: AbortSignal): Promise<string> {
    if (this.#titled?.ticket === ticket) return this.#titled.title
    const task = await this.#reach(signal, () => this.#parts.hub.task(taskIdOf(ticket))).catch(() => undefined)
    return task ? taskTitle(task) : `task ${taskIdOf(ticket)}`
  }

  /** Reports a task whose work was not committed to a branch. It does not count as done: a person is asked to clean up the folder. */
  async #respondWithout(
    ticket: string,
    { status, message }: TaskReport,
    { why }: UncollectedWork,
    signal: AbortSignal,
  ): Promise<TicketState | BlockedReport> {
    const { hub, as } = this.#parts
    if (status === 'FAILED') {
      const both = `${message}\n\n${why}`
      return this.#claim(ticket, signal, () => hub.respond(ticket, as.id, { status, message: both }))
    }
    const question = `Task not finished: ${why} Put that right, then answer: the agent goes on with the task. Its answer was:\n\n${message}`
    const body = { reason: 'its work could not be committed', question }
    const state = await this.#say(ticket, 'block', body, signal)
    return state === 'kept' ? { blocked: why } : state
  }

  async revoked(ticket: string, signal: AbortSignal): Promise<string | undefined> {
    const { hub, as, clock } = this.#parts
    for (;;) {
      await clock.sleep(lookMs, signal)
      if (signal.aborted) return undefined
      const task = await hub.task(taskIdOf(ticket)).catch(() => undefined)
      if (task?.state === 'CANCELLED') return task.why
      if (task && isPausedAt(task, as.id)) return `it is paused: ${task.why}`
      if (task && task.agent !== as.id) return 'it was given to another agent'
    }
  }

  async cliPolls(): Promise<boolean> {
    const { hub, as } = this.#parts
    const { waits } = await hub.agent(as.id).catch(() => ({ waits: false }))
    return waits
  }

  /** The next turn sends the total again, so a lost report does no harm. */
  reportUsage(total: Spent): void {
    const { hub, as } = this.#parts
    hub.spent(as.id, total).catch(() => {})
  }

  /** Repeats a call while the hub cannot be reached; undefined when the signal aborts. */
  async #reach<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T | undefined> {
    const { hub, clock, tell } = this.#parts
    for (let wait = firstWaitMs; !signal.aborted; wait = Math.min(longestWaitMs, wait * 2)) {
      try {
        const answer = await call()
        if (this.#away) tell(`the hub at ${hub.url} is back`)
        this.#away = false
        return answer
      } catch (error) {
        if (signal.aborted) break
        if (!isAway(error)) throw error
        if (!this.#away) tell(`the hub cannot be reached: ${error.message}; trying again`)
        this.#away = true
        await clock.sleep(wait, signal)
      }
    }
    return undefined
  }

  /** Makes a call about a task; a refusal means that the task is settled or lost. */
  async #claim(ticket: string, signal: AbortSignal, call: () => Promise<unknown>): Promise<TicketState> {
    const { hub, as } = this.#parts
    try {
      return (await this.#reach(signal, call)) === undefined ? 'lost' : 'kept'
    } catch (error) {
      if (!(error instanceof HubRefused)) throw error
      const task = await this.#reach(signal, () => hub.task(taskIdOf(ticket))).catch(() => undefined)
      if (task && isPausedAt(task, as.id)) return 'lost'
      return task?.agent === as.id && answered.has(task.state) ? 'settled' : 'lost'
    }
  }

  #say(ticket: string, verb: string, body: object, signal: AbortSignal): Promise<TicketState> {
    const { hub, as } = this.#parts
    return this.#claim(ticket, signal, () => hub.tell(ticket, verb, { agent: as.id, ...body }))
  }

  /** Whether the hub has paused the task at this agent. The agent will get it again, together with its work. */
  async #isPaused(ticket: string, signal: AbortSignal): Promise<boolean> {
    const { hub, as } = this.#parts
    const task = await this.#reach(signal, () => hub.task(taskIdOf(ticket))).catch(() => undefined)
    return task !== undefined && isPausedAt(task, as.id)
  }

  /** Does work for a task that may take long. The signal that `work` gets also aborts when the task is taken away. */
  async #whileHeld<T>(ticket: string, signal: AbortSignal, work: (held: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    const lost = new AbortController()
    // Watching stops when the work is done.
    void this.revoked(ticket, AbortSignal.any([signal, over.signal])).then((why) => why !== undefined && lost.abort())
    try {
      return await work(AbortSignal.any([signal, lost.signal]))
    } finally {
      over.abort()
    }
  }

  /** Saves the files of a task beside its work; false when the signal aborts. */
  async #saveAttachments(ticket: string, signal: AbortSignal): Promise<boolean> {
    const { hub, files } = this.#parts
    for (const [at, { name }] of this.#attached.entries()) {
      const body = await this.#reach(signal, () => hub.attachment(taskIdOf(ticket), at + 1, signal))
      if (!body) return false
      await files?.save(taskIdOf(ticket), name, body)
    }
    return true
  }

  /** Runs the checks, and stops them if the task is taken away in the meantime. */
  async #runChecks(ticket: string, changes: TaskChanges, signal: AbortSignal): Promise<RanCheck[]> {
    const { checks, workspace, tell } = this.#parts
    if (!checks) return []
    const begins = (command: string) => {
      // A failed report does not cost the agent its task.
      this.progress(ticket, `The checks run: ${command}`, signal).catch(() => {})
    }
    try {
      return await this.#whileHeld(ticket, signal, (held) => checks.run(changes, held, begins))
    } catch (error) {
      tell(`the checks of task ${ticket} could not be run: ${messageOf(error)}`)
      return []
    } finally {
      await workspace.restore?.().catch(() => {})
    }
  }

  /**
   * Sends the checks under the person's key, because the agent itself has the agent's key; without a person's key they count as claims of
   * the agent.
   */
  async #sendChecks(ticket: string, ran: readonly RanCheck[], signal: AbortSignal) {
    const { hub, vouch } = this.#parts
    const sent: SentCheck[] = []
    for (const { whole: text, ...check } of ran) {
      const whole = text === undefined ? undefined : (await hub.sendText(ticket, text, signal)).id
      sent.push(defined({ ...check, whole }))
    }
    if (!vouch) return { evidence: sent }
    await vouch(taskIdOf(ticket), sent, signal)
    return {}
  }
}

/** States of a task that its agent has answered itself. */
const answered: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'IN_REVIEW', 'APPROVED', 'BLOCKED'])

/** The text that tells an agent which folder to work in. */
const folderWords = (folder: string, workspace: string) =>
  `Work in the folder ${folder}. It is a checkout of ${wholeName(workspace)} on a branch of its own for this task. Change files only there. What you leave there is committed for you.`

/** Whether the caller should wait and repeat the call: there were too many requests, or the hub fails or is unreachable. */
function isAway(error: unknown): error is Error {
  return error instanceof HubAway || (error instanceof HubRefused && (error.status === 429 || error.status >= 500))
}

/** Says why the hub no longer gives work to an agent, and what to do about it. */
function refusalWords({ status, message }: HubRefused, url: string, agent: string): string {
  if (status !== 401) return `the hub at ${url} refuses ${agent}: ${message}`
  return `the hub at ${url} no longer knows the key of ${agent}. Resume to be lent a new one; a key that you were given has to be replaced first (termaite hub keys add).`
}

type HubOrder = Awaited<ReturnType<RemoteHub['wait']>> | (WorkOrder & { type: 'refused' })

function orderOf(given: HubOrder | undefined): WorkOrder {
  if (given?.type === 'task')
    return { type: 'task', ticket: given.ticket, prompt: given.task.prompt, notes: given.task.notes }
  return given && given.type !== 'idle' ? given : { type: 'none' }
}
