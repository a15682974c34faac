import type { HubLedger } from '../model/hub-ledger.ts'
import type { LinePlace, TaskNote } from '../model/tasks/task-note.ts'
import type { TaskMerge, TaskTry } from '../model/tasks/task-try.ts'
import type { DoneTask, ReviewedTask, Task } from '../model/tasks/task.ts'
import type { WorkMerger } from '../model/tasks/work-merger.ts'
import type { RoundRows } from './rounds/round-rows.ts'
import type { Rounds } from './rounds/rounds.ts'
import type { SpendingLimits } from './rounds/spending-limits.ts'
import type { TaskTexts } from './texts/task-texts.ts'
import { defined } from '../../base/defined.ts'
import { lookedItem, markKey } from '../model/tasks/inbox.ts'
import { noteWords } from '../model/tasks/task-note.ts'
import { MergeRefused } from '../model/tasks/work-merger.ts'
import { approveTask, mergeBegun, mergedLater, mergeForgotten, addNote, rejectTask } from './rules/task-moves.ts'
import { taskAt } from './hub-reads.ts'
import { requestName } from './rules/repeated-request.ts'
import { taskWish } from './rounds/rounds.ts'
import { HubError, taskIdOf, taskIn, workedOn } from './rules/task-rules.ts'

type ReviewParts = {
  rounds: Pick<Rounds, 'wish'>
  ledger: HubLedger
  texts: TaskTexts
  limits: SpendingLimits
  /** The name of this hub among those that share the ledger. */
  hub: string
  /** Missing if the hub has no repository to merge in. */
  merger?: WorkMerger
}

/** The approval of a try. `merge` lets the hub's machine merge the work first; `merged` reports a merge that the person has made. */
type Approval = { try?: number; merge?: boolean; merged?: TaskMerge }

/** The line of a diff that a comment refers to. */
type CommentPlace = Omit<LinePlace, 'text'>

/** The most characters of a line that a comment quotes. */
const longestQuote = 400
/** How many notes one read of the ledger fetches. */
const batch = 500

/** A merge of another hub that has lasted longer than this was interrupted. */
const mergeMs = 10 * 60_000

/** The reviews of people: verdicts on tries, comments at lines, and the try that each person has looked at. */
export class TaskReviews {
  #parts: ReviewParts

  constructor(parts: ReviewParts) {
    this.#parts = parts
  }

  /** Approves the newest try of a task in review; a client that worked on the task cannot approve it. */
  async approve(ticket: string, by: string, approval: Approval, key?: string): Promise<Task> {
    const { merge = false, merged } = approval
    if (merge) {
      const known = await this.#task(ticket)
      // Answers a request that is sent again because its answer got lost.
      if (isMergedTry(known, approval.try)) return known
      return this.#merge(approvable(known, by, approval), by, approval)
    }
    const rule = (rows: RoundRows, known: Task) => {
      if (merged && isMergedTry(known, approval.try)) return
      const task = approvable(known, by, approval)
      const at = rows.now
      if (task.state === 'IN_REVIEW') rows.tasks.replace(approveTask(task, defined({ at, by, merged })))
      else if (merged) rows.tasks.replace(mergedLater(task, { at, by, merged }))
    }
    return this.#wish(ticket, rule, requestName(by, 'approve', key))
  }

  /** Sends a task in review back to the agent that did it, with the reviewer's text and every open comment on a line. */
  async reject(
    ticket: string,
    by: string,
    { text, try: number }: { text?: string; try?: number },
    key?: string,
  ): Promise<Task> {
    const open = (await this.#openComments(taskIdOf(ticket))).length
    const rule = (rows: RoundRows, known: Task) => {
      checkNotMerging(known)
      const task = taskIn(known, 'IN_REVIEW', 'is not in review')
      checkTry(task, number)
      if (text === undefined && open === 0)
        throw new HubError('wrong', 'Say what is to be changed, or comment on a line of the diff first.')
      const words = text ?? `Sent back with ${open === 1 ? 'a comment on a line' : `${open} comments on lines`}.`
      const note = rows.note(by, 'comment', words)
      this.#parts.limits.check(rows, rows.tasks.replace(rejectTask(task, { at: note.at, by, note })))
    }
    return this.#wish(ticket, rule, requestName(by, 'reject', key))
  }

  /** Adds a comment to a task, or to a line of the diff of one of its tries. */
  async comment(ticket: string, by: string, text: string, at?: CommentPlace, key?: string): Promise<Task> {
    const place = at && { ...at, text: await this.#lineAt(await this.#task(ticket), at) }
    const rule = (rows: RoundRows, task: Task) => {
      rows.tasks.replace(addNote(task, defined({ ...rows.note(by, 'comment', text), place })))
    }
    return this.#wish(ticket, rule, requestName(by, 'comment', key))
  }

  /** Marks a comment at a line as taken care of, or opens it again. */
  async resolve(ticket: string, number: number, by: string, isResolved: boolean): Promise<Task> {
    const { id: taskId } = await this.#task(ticket)
    const [note] = await this.#parts.ledger.look((look) => look.notes(taskId, { before: number + 1, most: 1 }))
    if (note?.number !== number || !note.place)
      throw new HubError('missing', `Task ${taskId} has no comment ${number} on a line.`)
    return this.#wish(ticket, (rows, task) => {
      if ((note.resolved !== undefined) !== isResolved)
        rows.tasks.renote(task, defined({ ...note, resolved: isResolved ? by : undefined }))
    })
  }

  /** Records which try of a task a person has looked at; only the newest record counts. */
  look(ticket: string, person: string, number: number): Promise<void> {
    const taskId = taskIdOf(ticket)
    const item = lookedItem(taskId)
    return this.#parts.rounds.wish({
      reads: () => ({ tasks: [taskId], marks: [markKey({ item, person })] }),
      decide: (rows) => {
        const { tries = [] } = rows.tasks.get(taskId)
        if (!tries.some((one) => one.number === number))
          throw new HubError('missing', `Task ${taskId} has no try ${number}.`)
        const known = rows.markOf({ item, person })?.try ?? 0
        if (number > known) rows.mark({ item, person, try: number })
      },
    })
  }

  /** A page of a task's notes, the oldest first, and how many there are. */
  notes(taskId: string, page: { before?: number; most: number }): Promise<{ count: number; notes: TaskNote[] }> {
    return this.#parts.ledger.look(async (look) => {
      const { noted: count = 0 } = await taskAt(look, taskId)
      return { count, notes: await look.notes(taskId, page) }
    })
  }

  /** Every comment at a line of a task's diffs, open or not, the oldest first. */
  lineComments(taskId: string): Promise<TaskNote[]> {
    return this.#parts.ledger.look(async (look) => {
      await taskAt(look, taskId)
      const found: TaskNote[] = []
      for (let before: number | undefined, more = true; more;) {
        const page = await look.notes(taskId, defined({ before, most: batch }))
        found.unshift(...page.filter(({ place }) => place))
        before = page[0]?.number ?? 0
        more = page.length === batch
      }
      return found
    })
  }

  /** A task for its agent: each comment names its line, and every open comment on a line is included. */
  async forAgent<T extends Task>(task: T): Promise<T> {
    const { notes, noted: count = 0 } = task
    if (count === 0) return task
    const open = await this.#openComments(task.id)
    const all = [...notes.filter(({ place }) => !place), ...open].toSorted((a, b) => a.number - b.number)
    return {
      ...task,
      notes: all.map(({ place, ...note }) => ({ ...note, text: noteWords(defined({ text: note.text, place })) })),
    }
  }

  /**
   * Settles the merges that a killed hub has begun: if the merge is in the repository, the work is approved; if not, the merge is
   * forgotten.
   */
  async settleMerges(): Promise<void> {
    const { ledger, merger, hub } = this.#parts
    const begun = await ledger.look(async (look) =>
      (await look.list({ merging: true })).filter(({ task: { merging } }) => {
        const isOurs = !ledger.isShared || merging?.hub === hub
        return merging && (isOurs || look.now - merging.at > mergeMs)
      }),
    )
    for (const { task } of begun) {
      const merged = await merger?.found(task, task.merging!.commit).catch(() => undefined)
      await this.#endMerge(task, merged)
      if (merged) await merger?.sweep(task).catch(() => {})
    }
  }

  /**
   * Merges first, then approves. The start of a merge is recorded before git is called, so that a killed hub can find out how the merge
   * went.
   */
  async #merge(task: ReviewedTask | DoneTask, by: string, approval: Approval): Promise<Task> {
    const { merger, hub } = this.#parts
    const { id } = task
    if (!merger) throw new HubError('conflict', `This hub cannot merge. ${elsewhere(id)}`)
    const { commit } = await refusedAs(merger.check(task))
    const begun = await this.#wish(id, (rows, known) => {
      const number = approvable(known, by, approval).tries?.at(-1)?.number ?? 0
      rows.tasks.replace(mergeBegun(known, { by, try: number, at: rows.now, commit, hub }))
    })
    const merged = await refusedAs(merger.merge(task)).catch(async (error: unknown) => {
      await this.#endMerge(begun, undefined)
      throw error
    })
    const done = await this.#endMerge(begun, merged)
    await merger.sweep(task).catch(() => {})
    return done
  }

  /** Records the outcome of a merge: its work is approved, or the record that the merge began is removed. */
  #endMerge({ id, merging }: Task, merged: TaskMerge | undefined): Promise<Task> {
    return this.#wish(id, (rows, task) => {
      // Another merge of the task may have begun since.
      if (!merging || task.merging?.at !== merging.at || task.merging.commit !== merging.commit) return
      const move = merged && { at: rows.now, by: merging.by, merged }
      if (move && task.state === 'IN_REVIEW') rows.tasks.replace(approveTask(task, move))
      else if (move && isDone(task)) rows.tasks.replace(mergedLater(task, move))
      else rows.tasks.replace(mergeForgotten(task))
    })
  }

  async #openComments(taskId: string): Promise<TaskNote[]> {
    return (await this.lineComments(taskId)).filter(({ resolved }) => resolved === undefined)
  }

  async #lineAt(task: Task, at: CommentPlace): Promise<string> {
    const diff = tryOf(task, at.try).diff
    const found = diff && (await this.#parts.texts.line(diff, at))
    if (found !== undefined) return found.slice(0, longestQuote)
    const when = at.side === 'old' ? 'before' : 'after'
    throw new HubError(
      'wrong',
      `The diff of try ${at.try} does not show line ${at.line} of ${at.path} ${when} the change.`,
    )
  }

  #wish(ticket: string, rule: (rows: RoundRows, task: Task) => void, request?: string): Promise<Task> {
    return this.#parts.rounds.wish(taskWish(ticket, rule, { request }))
  }

  #task(ticket: string): Promise<Task> {
    return this.#parts.ledger.look((look) => taskAt(look, taskIdOf(ticket)))
  }
}

/** Refuses to move a task while its work is being merged. */
export function checkNotMerging({ id, merging }: Task): void {
  if (merging)
    throw new HubError('conflict', `The work of task ${id} is being merged at this moment. Try again in a moment.`)
}

/** The task, if this person may now approve this try of it. A merge may also follow an approval. */
function approvable(known: Task, by: string, { try: number, merge, merged }: Approval): ReviewedTask | DoneTask {
  checkNotMerging(known)
  const later = (merge || merged) && isDone(known) ? known : undefined
  const task: ReviewedTask | DoneTask = later ?? taskIn(known, 'IN_REVIEW', 'is not in review')
  checkTry(task, number)
  if (workedOn(task, by))
    throw new HubError('forbidden', `${by} worked on task ${task.id} and cannot approve it: another person has to.`)
  return task
}

/** A try of a task by its number. */
export function tryOf({ id, tries = [] }: Task, number: number): TaskTry {
  const found = tries.find((one) => one.number === number)
  if (!found) throw new HubError('missing', `Task ${id} has no try ${number}.`)
  return found
}

/** Refuses a verdict on any try but the newest, because nobody should approve work that they have not seen. */
function checkTry({ id, tries = [] }: Task, number: number | undefined): void {
  const newest = tries.at(-1)?.number
  if (newest === undefined || newest === number) return
  if (number === undefined)
    throw new HubError('wrong', `Name the try that you have looked at. The newest try of task ${id} is ${newest}.`)
  throw new HubError(
    'conflict',
    number < newest
      ? `Task ${id} has a newer try: you have looked at try ${number}, and try ${newest} is the newest. Look at it first.`
      : `Task ${id} has no try ${number}. Its newest try is ${newest}.`,
  )
}

const isDone = (task: Task): task is DoneTask => task.state === 'APPROVED' || task.state === 'COMPLETED'

/** Whether a try was merged already. */
function isMergedTry(task: Task, number: number | undefined): boolean {
  const last = task.tries?.at(-1)
  return isDone(task) && last?.number === number && last?.reviews?.some(({ merged }) => merged) === true
}

const elsewhere = (id: string) =>
  `Merge on the machine that has the repository: termaite task approve ${id.slice(-8)} --merge`

/** Passes the message of a refused merge on to the caller. */
async function refusedAs<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof MergeRefused ? new HubError('conflict', error.message) : error
  }
}
