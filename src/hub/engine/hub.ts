import type { Clock } from '../../base/time/clock.ts'
import type { AgentStatus } from '../model/tasks/agent-status.ts'
import type { HubChange, HubLedger, LedgerLook, WorkRequest } from '../model/hub-ledger.ts'
import type { SpendingCaps } from '../model/tasks/spending-cap.ts'
import type { KeptText } from '../model/tasks/task-try.ts'
import type { HubAgent, Task } from '../model/tasks/task.ts'
import type { WorkMerger } from '../model/tasks/work-merger.ts'
import type { RoundRows } from './rounds/round-rows.ts'
import type { SentAttachment } from './texts/task-attachments.ts'
import type { NewTask } from './rules/task-rules.ts'
import type { Given } from '../model/hub-state.ts'
import { defined } from '../../base/defined.ts'
import { newId } from '../../base/id.ts'
import { AgentOrders } from './agent-orders.ts'
import { AgentReports } from './agent-reports.ts'
import { AgentWaits } from './agent-waits.ts'
import { HubInbox } from './hub-inbox.ts'
import { agentsIn, HubReads } from './hub-reads.ts'
import { LedgerDisk } from './ledger-disk.ts'
import { OpenQuestions } from './open-questions.ts'
import { OperatorOrders } from './operator-orders.ts'
import { renewedPlace } from './rules/pipeline-rules.ts'
import { Pipelines } from './pipelines.ts'
import { Retention } from './rules/task-removal.ts'
import { KeptRequests } from './kept-requests.ts'
import { requestName } from './rules/repeated-request.ts'
import { Rounds, taskWish } from './rounds/rounds.ts'
import { roundRules } from './settling.ts'
import { SsoPeople } from './sso-people.ts'
import { SpendingLimits } from './rounds/spending-limits.ts'
import { TaskAttachments } from './texts/task-attachments.ts'
import { cancelTask, queuedAgain, redirectTask } from './rules/task-moves.ts'
import { checkNotMerging, TaskReviews } from './task-reviews.ts'
import { ackMs, HubError, isFinished, newTask, taskIn } from './rules/task-rules.ts'
import { TaskTexts } from './texts/task-texts.ts'
import { TaskWork } from './task-work.ts'
import { WaitingAgents } from './rounds/waiting-agents.ts'

type HubParts = {
  ledger: HubLedger
  clock: Clock
  /** Called with the changes that this hub has made, once they are durable. */
  published(changes: readonly HubChange[]): void
  caps?: SpendingCaps
  /** Hides secrets in a result that is passed on to another agent. */
  mask?(text: string): string
  /** Merges approved work on this machine. */
  merger?: WorkMerger
  /** The name of this hub among those that share the ledger. */
  id?: string
  /** Called with the time in ms that a task was ready before it was given out. */
  woke?(ms: number): void
  /** Called for each round that the ledger rejected. */
  failed?(error: unknown): void
  /** Finished tasks are removed this long after they were last touched; without it they are kept. */
  keepFinishedMs?: number
}

export type Registration = Pick<HubAgent, 'id' | 'role' | 'name' | 'capabilities' | 'workspace' | 'source'> &
  Pick<HubAgent, 'workspaces' | 'version' | 'protocol'> &
  Pick<AgentStatus, 'machine'>

/** A new task whose files are named by the ids of their uploads. */
export type AddedTask = Omit<NewTask, 'attachments'> & { attachments?: SentAttachment[] }

/** The pause before the next attempt when the ledger cannot be written. */
const retryMs = 5_000
/** How often the hub looks for old tasks, texts that no task refers to and merges that were interrupted. */
const tidyMs = 3_600_000

/** The hub without HTTP: agents, tasks, and which agent does which task. Every change is durable before it is answered. */
export class Hub extends HubReads {
  readonly id: string
  readonly disk: LedgerDisk
  readonly inbox: HubInbox
  readonly orders: AgentOrders
  readonly operators: OperatorOrders
  readonly attachments: TaskAttachments
  readonly reports: AgentReports
  readonly people: SsoPeople
  readonly pipelines: Pipelines
  readonly questions: OpenQuestions
  /** The requests that clients may send again. */
  readonly requests: KeptRequests
  readonly retention: Retention
  readonly reviews: TaskReviews
  /** Long texts of tasks, such as diffs. */
  readonly texts: TaskTexts
  readonly work: TaskWork
  #ledger: HubLedger
  #clock: Clock
  #rounds: Rounds
  #waits: AgentWaits
  #limits: SpendingLimits
  #keepFinishedMs: number | undefined
  /** Called when something has changed at the hub: requests that wait for the end of a task then check it again. */
  #watchers = new Set<() => void>()
  /** The current sleep of `run`, and its end by `Clock.elapsed`. */
  #sleep = { until: Infinity, wake: new AbortController() }

  constructor({
    ledger,
    clock,
    published,
    caps = {},
    merger,
    mask = (text) => text,
    id = newId(clock.now()),
    woke,
    failed,
    keepFinishedMs,
  }: HubParts) {
    const limits = new SpendingLimits(caps)
    super(ledger, limits)
    this.id = id
    this.#ledger = ledger
    this.#clock = clock
    this.#limits = limits
    this.#keepFinishedMs = keepFinishedMs
    this.retention = new Retention(ledger)
    const waiting = new WaitingAgents(clock)
    const texts = (this.texts = new TaskTexts(ledger.blobs))
    const rounds: Pick<Rounds, 'wish'> = { wish: (wish) => this.#rounds.wish(wish) }
    const waits = (this.#waits = new AgentWaits({ rounds, waiting, clock, hub: id }))
    const handing = { mask, beginningOf: (text: KeptText, bytes: number) => texts.beginning(text, bytes) }
    const pipelines = (this.pipelines = new Pipelines({ rounds, ledger, handing, taskCap: caps.task }))
    this.#rounds = new Rounds({
      ledger,
      hub: id,
      waiting,
      rules: roundRules({ limits, pipelines }),
      published: (changes) => {
        published(changes)
        if (changes.length > 0) this.#changed()
      },
      // A retry, a deadline or a schedule of this round may be due before the sleep ends.
      due: (ms) => {
        if (clock.elapsed() + ms < this.#sleep.until) this.#sleep.wake.abort('due')
      },
      missed: (gift) => waits.missed(gift),
      ...defined({ woke, failed }),
    })
    const disk = (this.disk = new LedgerDisk(ledger, clock))
    const days = (look: LedgerLook) => this.daysIn(look)
    this.inbox = new HubInbox({ rounds, ledger, agents: agentsIn, days, disk: () => disk.full() })
    this.attachments = new TaskAttachments(ledger.blobs)
    this.orders = new AgentOrders({ rounds, ledger })
    this.operators = new OperatorOrders({ rounds, ledger })
    this.reports = new AgentReports({ rounds, limits })
    this.people = new SsoPeople({ rounds, ledger, clock })
    this.requests = new KeptRequests({ book: ledger.requests, clock })
    this.questions = new OpenQuestions({ rounds, limits })
    this.work = new TaskWork({ rounds, ledger, texts })
    this.reviews = new TaskReviews(defined({ rounds, ledger, texts, limits, merger, hub: id }))
  }

  /** How many agents wait at this hub. */
  get waitingAgents(): number {
    return this.#waits.size
  }

  register({ machine, ...as }: Registration): Promise<HubAgent> {
    return this.#rounds.wish({
      reads: () => ({ agents: [as.id] }),
      decide: (rows) => {
        const known: Partial<HubAgent> = rows.knownAgent(as.id) ?? {}
        const { evicted: _, registered = rows.now, inbox = [], ...was } = known
        const status = machine === undefined ? was.status : { ...was.status, machine }
        rows.know(defined({ ...was, registered, inbox, ...defined(as), status, seen: rows.now }))
        return rows.hear(as.id)
      },
    })
  }

  /** Adds a task. A request repeated with the same id, or without an id with the same key, adds no second task. */
  async add({ attachments: sent, ...wanted }: AddedTask, key?: string): Promise<Task> {
    const named = requestName(wanted.by, 'add', key)
    const attachments = await this.attachments.of(sent)
    // The id is chosen before the round, which may have to be repeated.
    const id = wanted.id ?? named ?? newId(this.#clock.now())
    const needs = wanted.needs ?? []
    return this.#rounds.wish({
      reads: () => ({ tasks: [id], needs }),
      decide: (rows) => {
        const known = rows.tasks.known(id)
        // Answers a request that the client repeated because the answer was lost.
        if (known?.prompt === wanted.prompt) return known
        const capped = { ...wanted, id, attachments, cap: wanted.cap ?? this.#limits.taskCap }
        rows.tasks.add(
          newTask(capped, { has: (one) => (one === id ? known : rows.tasks.need(one)) !== undefined }, rows.now),
        )
        return rows.tasks.get(id)
      },
    })
  }

  /**
   * Waits for a task, a message or an eviction. A task that the agent already has is offered again, in case the answer was lost. `until`
   * is a time of `Clock.elapsed`.
   */
  async wait(id: string, until: number, connection: AbortSignal, asked?: WorkRequest): Promise<Given> {
    const given = await this.#waits.wait(id, until, connection, asked)
    return given.type === 'task' ? { ...given, task: await this.reviews.forAgent(given.task) } : given
  }

  /** Cancels a task. `key` is the client's own name for the request, here and in the methods below. */
  cancel(ticket: string, by: string, why = 'cancelled', key?: string): Promise<Task> {
    const rule = (rows: RoundRows, task: Task) => {
      checkNotMerging(task)
      if (isFinished(task)) throw new HubError('conflict', `Task ${task.id} is already ${task.state}.`)
      rows.tasks.replace(cancelTask(task, { at: rows.now, by, why }))
    }
    return this.#rounds.wish(taskWish(ticket, rule, { request: requestName(by, 'cancel', key) }))
  }

  retry(ticket: string, by: string, key?: string): Promise<Task> {
    const rule = (rows: RoundRows, task: Task) => {
      if (task.state !== 'FAILED' && task.state !== 'CANCELLED')
        throw new HubError(
          'conflict',
          `Task ${task.id} is ${task.state}: only a failed or cancelled task can be retried.`,
        )
      const queued = queuedAgain(task, { at: rows.now, by, returns: 0 })
      rows.tasks.replace(renewedPlace(this.#limits.renewed(rows, queued, by), rows.now))
    }
    return this.#rounds.wish(taskWish(ticket, rule, { request: requestName(by, 'retry', key) }))
  }

  /** Changes the priority of a queued task, or the agent that it is meant for; an empty agent means any agent. */
  redirect(ticket: string, by: string, change: { priority?: number; wish?: string }, key?: string): Promise<Task> {
    const rule = (rows: RoundRows, known: Task) => {
      const task = taskIn(known, 'QUEUED', 'does not wait in the queue')
      if (change.wish) rows.agent(change.wish)
      const words = [
        ...(change.priority === undefined ? [] : [`priority ${change.priority}`]),
        ...(change.wish === undefined ? [] : [change.wish === '' ? 'for any agent' : `for ${change.wish}`]),
      ]
      if (words.length === 0) throw new HubError('wrong', 'Name a priority, or the agent that the task is meant for.')
      rows.tasks.replace(redirectTask(task, change, rows.note(by, 'comment', `Changed: ${words.join(', ')}.`)))
    }
    const more = () => ({ agents: [change.wish || []].flat() })
    return this.#rounds.wish(taskWish(ticket, rule, { more, request: requestName(by, 'redirect', key) }))
  }

  /** Resolves when a task is finished, blocked or in review, or at the time `until`. */
  async settled(id: string, until: number, signal: AbortSignal): Promise<Task> {
    for (;;) {
      const changed = new AbortController()
      const wake = () => changed.abort('changed')
      this.#watchers.add(wake)
      try {
        const task = await this.task(id)
        if (isFinished(task) || task.state === 'BLOCKED' || task.state === 'IN_REVIEW') return task
        if (signal.aborted || this.#clock.elapsed() >= until) return task
        await this.#clock.sleep(until - this.#clock.elapsed(), AbortSignal.any([signal, changed.signal]))
      } finally {
        this.#watchers.delete(wake)
      }
    }
  }

  /**
   * Cleans up after an earlier process: diffs inside tasks of an older termaite, and merges whose outcome is unknown. Called once, before
   * the hub accepts requests.
   */
  async settle(): Promise<void> {
    await this.#ledger.adopt?.((task) => this.texts.withMovedDiffs(task))
    await this.reviews.settleMerges()
  }

  /** Does everything that is due, such as taking tasks back from agents that fell silent, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const quiet = this.#ledger.listen(({ seq, claimable }) => {
      this.#rounds.heard(seq, claimable)
      this.#changed()
    })
    const tidied = this.#tidy(signal)
    while (!signal.aborted) {
      // Runs a round even if nothing is due, because wishes for a certain agent expire. If the ledger failed, the hub tries again.
      const next = await this.#rounds
        .sweep()
        .then(() => this.#ledger.untilDue())
        .catch(() => retryMs)
      const pause = Math.max(0, Math.min(next ?? ackMs, ackMs))
      this.#sleep = { until: this.#clock.elapsed() + pause, wake: new AbortController() }
      await this.#clock.sleep(pause, AbortSignal.any([signal, this.#sleep.wake.signal]))
    }
    quiet()
    this.#waits.close()
    await this.#rounds.over()
    await tidied
  }

  /**
   * Removes old finished tasks if the settings say so, removes texts that no task refers to, and settles merges that another hub left
   * unfinished. A step that fails is repeated next time.
   */
  async #tidy(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const keptMs = this.#keepFinishedMs
      if (keptMs !== undefined) await this.retention.removeAll(keptMs, signal).catch(() => {})
      await this.#ledger.sweep().catch(() => {})
      if (this.#ledger.isShared) await this.reviews.settleMerges().catch(() => {})
      await this.#clock.sleep(tidyMs, signal)
    }
  }

  #changed(): void {
    for (const wake of this.#watchers) wake()
  }
}
