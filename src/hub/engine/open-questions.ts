import type { WorkspaceDay } from '../model/tasks/spending-cap.ts'
import type { AgentQuestion, HubAgent, Task } from '../model/tasks/task.ts'
import type { RoundRows } from './rounds/round-rows.ts'
import type { Rounds } from './rounds/rounds.ts'
import type { SpendingLimits } from './rounds/spending-limits.ts'
import { defined } from '../../base/defined.ts'
import { optionLines } from '../../core/talk/consent.ts'
import { taskQuestion } from '../model/tasks/task-question.ts'
import { pickedLabels } from './rules/question-picks.ts'
import { requestName } from './rules/repeated-request.ts'
import { taskWish } from './rounds/rounds.ts'
import { addNote, queuedAgain } from './rules/task-moves.ts'
import { heldTask, HubError, taskIdOf, taskIn } from './rules/task-rules.ts'

/**
 * The questions that wait for a person at the hub, and their answers: questions of agents, of blocked tasks, and about the cap of a day.
 */
export class OpenQuestions {
  #rounds: Pick<Rounds, 'wish'>
  #limits: SpendingLimits

  constructor({ rounds, limits }: { rounds: Pick<Rounds, 'wish'>; limits: SpendingLimits }) {
    this.#rounds = rounds
    this.#limits = limits
  }

  /** Stores an open question of an agent, which continues its task once the question is answered; undefined withdraws the question. */
  ask(agentId: string, asked: Omit<AgentQuestion, 'at'> | undefined): Promise<HubAgent> {
    return this.#rounds.wish({
      reads: () => ({ agents: [agentId], tasks: [asked?.task ?? []].flat() }),
      decide: (rows) => {
        const agent = rows.hear(agentId)
        const asks = asked && { ...asked, at: rows.now }
        const task = asks?.task === undefined ? undefined : heldTask(rows.tasks.get(asks.task), agentId)
        rows.know(defined({ ...agent, asks, answered: asks ? undefined : agent.answered }))
        if (asks && task) rows.tasks.replace(addNote(task, rows.note(agentId, 'question', questionWords(asks))))
        return rows.agent(agentId)
      },
    })
  }

  /** Answers the open question of an agent. */
  answerAgent(agentId: string, picks: readonly string[], by: string): Promise<HubAgent> {
    return this.#rounds.wish({
      reads: (rows) => ({ agents: [agentId], tasks: [rows.readAgent(agentId)?.agent.asks?.task ?? []].flat() }),
      decide: (rows) => {
        answerQuestion(rows, agentId, picks, by)
        return rows.agent(agentId)
      },
    })
  }

  /**
   * Answers the question of a blocked task, which goes back to the agent that asked if that agent is present; or answers a question of
   * the agent that has the task.
   */
  answer(ticket: string, picks: readonly string[], by: string, key?: string): Promise<Task> {
    const rule = (rows: RoundRows, known: Task) => {
      const { id, agent } = known
      if (agent !== undefined && rows.knownAgent(agent)?.asks?.task === id) {
        answerQuestion(rows, agent, picks, by)
        return
      }
      const task = taskIn(known, 'BLOCKED', 'has no open question')
      const { options } = task
      if (options) {
        this.#limits.answer(rows, { ...task, options }, picks, by)
        return
      }
      const said = rows.note(by, 'answer', pickedLabels(taskQuestion(task, []), picks))
      rows.tasks.replace(queuedAgain(task, { at: said.at, by, note: said, wish: task.agent }))
    }
    const more = (rows: RoundRows) => ({ agents: [rows.tasks.ifRead(taskIdOf(ticket))?.agent ?? []].flat() })
    return this.#rounds.wish(taskWish(ticket, rule, { more, request: requestName(by, 'answer', key) }))
  }

  /** Answers the question whether a workspace that has exceeded its daily cap may continue. */
  answerDay(workspace: string, picks: readonly string[], by: string): Promise<WorkspaceDay> {
    return this.#rounds.wish({
      reads: () => ({ days: [workspace] }),
      decide: (rows) => this.#limits.answerDay(rows, workspace, picks, by),
    })
  }
}

function answerQuestion(rows: RoundRows, agentId: string, picks: readonly string[], by: string): void {
  const agent = rows.agent(agentId)
  const { asks } = agent
  if (!asks) throw new HubError('conflict', `Agent ${agentId} has no open question.`)
  const labels = pickedLabels(asks, picks)
  rows.know(defined({ ...agent, asks: undefined, answered: { ask: asks.id, picks: [...picks], by } }))
  const task = asks.task === undefined ? undefined : rows.tasks.known(asks.task)
  if (task) rows.tasks.replace(addNote(task, rows.note(by, 'answer', labels)))
}

/** A question with its options, as one text. */
function questionWords(asks: AgentQuestion): string {
  return [asks.text, ...optionLines(asks)].join('\n')
}
