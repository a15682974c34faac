import type { Clock } from '../../base/time/clock.ts'
import type { HubChange } from '../model/hub-ledger.ts'
import type { Occasion } from '../../core/talk/notice.ts'
import type { HubAgent, Task, TaskState } from '../model/tasks/task.ts'
import type { Notify } from '../client/notify.ts'
import { workspaceName } from '../model/tasks/workspace.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { oneLine } from '../../base/text/table.ts'
import { agentView, taskView } from '../client/page-link.ts'

type Told = Parameters<Notify>[0]

type HubNoticeParts = { clock: Clock; notify: Notify; task(id: string): Promise<Task> }

/** Changes within this time belong together: if ten tasks fail because of one provider, one notice is sent. */
const gatherMs = 1_000
/** If there are more notices than this at once, one notice sums them up. */
const mostAtOnce = 3
const longest = 160

const occasionOf: Partial<Record<TaskState, Occasion>> = {
  BLOCKED: 'blocked',
  IN_REVIEW: 'review',
  FAILED: 'failed',
  COMPLETED: 'done',
}

/**
 * Notifies a person elsewhere, by the notifiers in the settings, about each new event at the hub: a question, a blocked or finished task,
 * a review, a failure, a used-up quota, a cap that is passed. Only the hub's process notifies, and only once per event.
 */
export class HubNotices {
  #parts: HubNoticeParts
  #waiting: Told[] = []
  /** Resolves when all changes so far have been handled. */
  #seen = Promise.resolve()
  /** The last notice about each agent, each workspace and each pipeline. */
  #told = new Map<string, string | number>()

  constructor(parts: HubNoticeParts) {
    this.#parts = parts
  }

  see(changes: readonly HubChange[]): void {
    this.#seen = this.#seen.then(() => this.#gather(changes))
  }

  async #gather(changes: readonly HubChange[]): Promise<void> {
    const told: Told[] = []
    // The changes are handled one after another, in the order in which they happened. A task that cannot be read causes no notice.
    for (const change of changes) told.push(...(await this.#noticeOf(change).catch(() => [])))
    if (told.length === 0) return
    const isFirst = this.#waiting.length === 0
    this.#waiting.push(...told)
    // Sending never rejects, and the hub does not wait for it.
    if (isFirst) void this.#parts.clock.sleep(gatherMs).then(() => this.send())
  }

  /** Sends all gathered notices. */
  async send(): Promise<void> {
    await this.#seen
    const told = this.#waiting.splice(0)
    const { notify } = this.#parts
    if (told.length <= mostAtOnce) {
      await Promise.all(told.map((each) => notify(each)))
      return
    }
    const [first] = told
    const kinds = [...new Set(told.map(({ event }) => event))]
    const text = `${told.length} things happened at once: ${kinds.map((kind) => `${told.filter(({ event }) => event === kind).length} ${kind}`).join(', ')}`
    await notify({ event: first!.event, agent: 'the hub', workspace: first!.workspace, text, view: 'inbox' })
  }

  async #noticeOf(change: HubChange): Promise<Told[]> {
    if (change.type === 'agent') return this.#agentNotice(change.agent)
    if (change.type === 'day') {
      const { workspace, asked } = change.day
      if (!this.#isNew(`day ${workspace}`, asked)) return []
      const text = `the cap for today in ${workspaceName(workspace)} is reached, and no further task begins there`
      return [{ event: 'blocked', agent: 'the hub', workspace, text, view: 'inbox' }]
    }
    if (change.type === 'pipeline') {
      const { id, name, asks, tasks } = change.pipeline
      if (!this.#isNew(`pipeline ${id}`, asks?.at)) return []
      const { workspace } = await this.#parts.task(tasks[0]!)
      const text = `the budget of the pipeline ${name} is spent, and no further task of it begins`
      return [{ event: 'blocked', agent: 'the hub', workspace, text, view: 'inbox' }]
    }
    const event = change.type === 'task' && change.step && occasionOf[change.step.state]
    if (!event || change.type !== 'task') return []
    const task = await this.#parts.task(change.id)
    // If the hub tries the task again, a person does not need to know about the failure yet.
    if (event === 'failed' && task.state !== 'FAILED') return []
    // The text of the change itself comes first, because the task may have changed again meanwhile.
    const { agent = 'the hub', workspace, prompt, question, why, result } = { ...task, ...change.set }
    const said = event === 'blocked' ? question : event === 'failed' ? why : result?.message
    const text = `${oneLine(prompt, longest)}: ${oneLine(said ?? '', longest)}`
    return [{ event, agent, workspace, text, task: change.id }]
  }

  #agentNotice({ id, name = id, workspace, asks, status }: HubAgent): Told[] {
    if (asks && this.#isNew(`asks ${id}`, asks.id)) {
      const view = asks.task === undefined ? agentView(id) : taskView(asks.task)
      return [{ event: 'asking', agent: name, workspace, text: oneLine(asks.text, longest), view }]
    }
    const { parkedAt, parkedUntil = 0, parkedWhy = '' } = status ?? {}
    const now = this.#parts.clock.now()
    if (parkedUntil <= now || !this.#isNew(`parked ${id}`, parkedAt)) return []
    const text = `out of quota until ${localTimeFrom(now, parkedUntil)}: ${oneLine(parkedWhy, longest)}`
    return [{ event: 'parked', agent: name, workspace, text, view: agentView(id) }]
  }

  /** Whether no notice about this was sent yet; also remembers that one is sent now. */
  #isNew(subject: string, what: string | number | undefined): boolean {
    if (what === undefined || this.#told.get(subject) === what) return false
    this.#told.set(subject, what)
    return true
  }
}
