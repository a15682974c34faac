import type { HubLedger } from '../model/hub-ledger.ts'
import type { TaskResult, TaskTry, TryPlace } from '../model/tasks/task-try.ts'
import type { Task, WorkingTask } from '../model/tasks/task.ts'
import type { RoundRows } from './rounds/round-rows.ts'
import type { Rounds } from './rounds/rounds.ts'
import type { SentCheck, SentDiff, TaskTexts } from './texts/task-texts.ts'
import { defined } from '../../base/defined.ts'
import { taskAt } from './hub-reads.ts'
import { isRepeated, requestName } from './rules/repeated-request.ts'
import { taskWish } from './rounds/rounds.ts'
import { takeBack } from './settling.ts'
import {
  acknowledgeTask,
  blockTask,
  noteProgress,
  endWork,
  unansweredTry,
  resumeTask,
  withChecks,
  withLateWork,
} from './rules/task-moves.ts'
import { checkFence, heldTask, HubError, isHeld, isPausedAt, taskIdOf } from './rules/task-rules.ts'

/** An agent's answer: its text, the diff and the place of its work, and the checks that the agent says it ran. */
export type Response = TaskResult & {
  status: 'COMPLETED' | 'FAILED' | 'BLOCKED' | 'IN_REVIEW'
  diff?: SentDiff
  evidence?: SentCheck[]
  place?: TryPlace
}

/** The work of an agent that has already lost its task. */
export type LateWork = Pick<Response, 'message' | 'artifacts' | 'diff' | 'place'>

type TaskWorkParts = { rounds: Pick<Rounds, 'wish'>; ledger: HubLedger; texts: TaskTexts }

/** The reports of agents on the tasks that they were given, from the acknowledgement to the answer. */
export class TaskWork {
  #parts: TaskWorkParts

  constructor(parts: TaskWorkParts) {
    this.#parts = parts
  }

  /** Acknowledges a task. */
  ack(ticket: string, agentId: string): Promise<Task> {
    return this.#work(ticket, agentId, () => {})
  }

  progress(ticket: string, agentId: string, text: string, percentage?: number, key?: string): Promise<Task> {
    return this.#work(
      ticket,
      agentId,
      (rows, task) => {
        rows.tasks.replace(noteProgress(task, rows.note(agentId, 'progress', text, percentage)))
      },
      requestName(agentId, 'progress', key),
    )
  }

  /** Blocks a task whose agent needs an answer: the task waits for it, and the agent is free for other tasks. */
  block(ticket: string, agentId: string, why: string, question: string, key?: string): Promise<Task> {
    return this.#work(
      ticket,
      agentId,
      (rows, task) => {
        rows.tasks.replace(blockTask(task, why, rows.note(agentId, 'question', question)))
      },
      requestName(agentId, 'block', key),
    )
  }

  /** Takes a task back from an agent that cannot do any task now; the task goes back to the queue for all agents. */
  release(ticket: string, agentId: string, why: string, key?: string): Promise<Task> {
    const rule = (rows: RoundRows, task: WorkingTask) => takeBack(rows, task, agentId, why, task)
    return this.#work(ticket, agentId, rule, requestName(agentId, 'release', key))
  }

  /** Ends a try with the agent's answer. Long texts are stored first, and then the task is checked again. */
  async respond(ticket: string, agentId: string, response: Response, key?: string): Promise<Task> {
    const { status, message, artifacts, diff, evidence = [], place = {} } = response
    if (status === 'BLOCKED') return this.block(ticket, agentId, message, message, key)
    const result = defined({ message, artifacts })
    // The agent repeats a response if the hub's answer to it got lost.
    const isAnswered = ({ agent, state, result: known }: Task) =>
      agent === agentId && state === status && isSame(known, result)
    const request = requestName(agentId, 'respond', key)
    const hasTexts = diff !== undefined || evidence.length > 0
    if (hasTexts) {
      const before = await this.#task(ticket)
      if (isRepeated(before, request)) return before
      if (!isAnswered(before) && !isPausedAt(before, agentId)) heldTask(before, agentId)
    }
    const texts = hasTexts ? await this.#kept(diff, evidence) : {}
    const rule = (rows: RoundRows, known: Task) => {
      checkFence(ticket, known)
      if (isAnswered(known)) return
      const task = isPausedAt(known, agentId) ? resumeTask(known) : working(rows, known, agentId)
      const work = { ...defined(place), ...texts, result }
      rows.tasks.replace(endWork(task, status, work, rows.note(task.agent, 'response', message)))
    }
    return this.#parts.rounds.wish(taskWish(ticket, rule, { more: () => ({ agents: [agentId] }), request }))
  }

  /** Stores the work of an agent that lost the task in the meantime, in that agent's try. The task itself does not change. */
  async late(taskId: string, agentId: string, { message, artifacts, diff, place = {} }: LateWork): Promise<Task> {
    const texts = await this.#kept(diff, [])
    const rule = (rows: RoundRows, task: Task) => {
      const late = unansweredTry(task, agentId)
      // The agent repeats a request if the hub's answer to it got lost.
      if (task.tries?.some((one) => one.agent === agentId && one.late && one.result?.message === message)) return
      if (!late)
        throw new HubError('conflict', `Agent ${agentId} has no try of task ${taskId} that ended without an answer.`)
      const work = { ...defined(place), ...texts, result: defined({ message, artifacts }) }
      const words = `The work of ${agentId} came after it had lost the task. It is kept as try ${late.number}.`
      rows.tasks.replace(withLateWork(task, late, work, rows.note('hub', 'comment', words)))
    }
    return this.#parts.rounds.wish(taskWish(taskIdOf(taskId), rule))
  }

  /** Stores the checks that termaite ran on the work of a task, before its agent answers or a person reviews it. */
  async checked(ticket: string, sent: readonly SentCheck[], key?: string): Promise<Task> {
    const open = (task: Task) => {
      if (isHeld(task) || task.state === 'IN_REVIEW') return task
      throw new HubError('conflict', `Task ${task.id} is ${task.state}: its checks come too late, or before its work.`)
    }
    const request = requestName('termaite', 'checks', key)
    const before = await this.#task(ticket)
    if (isRepeated(before, request)) return before
    open(before)
    const checks = await Promise.all(sent.map((check) => this.#parts.texts.check(check, 'termaite')))
    const rule = (rows: RoundRows, known: Task) => {
      const task = open(known)
      rows.tasks.replace(withChecks(isHeld(task) ? working(rows, task, task.agent) : task, checks))
    }
    const more = (rows: RoundRows) => ({ agents: [rows.tasks.ifRead(taskIdOf(ticket))?.agent ?? []].flat() })
    return this.#parts.rounds.wish(taskWish(ticket, rule, { more, request }))
  }

  /** Changes a task by a report of the agent that works on it. */
  #work(
    ticket: string,
    agentId: string,
    rule: (rows: RoundRows, task: WorkingTask) => void,
    request?: string,
  ): Promise<Task> {
    const work = (rows: RoundRows, task: Task) => {
      checkFence(ticket, task)
      rule(rows, working(rows, task, agentId))
    }
    return this.#parts.rounds.wish(taskWish(ticket, work, { more: () => ({ agents: [agentId] }), request }))
  }

  /** Stores the long texts of an answer. */
  async #kept(sent: Response['diff'], evidence: readonly SentCheck[]): Promise<Pick<TaskTry, 'diff' | 'checks'>> {
    const diff = await this.#parts.texts.diff(sent)
    const checks = await Promise.all(evidence.map((check) => this.#parts.texts.check(check, 'agent')))
    return defined({ diff, checks: checks.length > 0 ? checks : undefined })
  }

  #task(ticket: string): Promise<Task> {
    return this.#parts.ledger.look((look) => taskAt(look, taskIdOf(ticket)))
  }
}

/**
 * The task of an agent that works on it; an unacknowledged task is acknowledged too. From now on the agent's usage counts for this task.
 */
function working(rows: RoundRows, known: Task, agentId: string): WorkingTask {
  rows.hear(agentId)
  const task = heldTask(known, agentId)
  rows.putAgentRow({ ...rows.agentRow(agentId), task: task.id })
  return task.state === 'PENDING_ACK' ? rows.tasks.replace(acknowledgeTask(task, rows.now)) : task
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
