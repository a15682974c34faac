import type { Command } from '../core/talk/command.ts'
import type { TurnSummary } from './turn-summary.ts'
import type { CommandRunner } from './command-runner.ts'
import type { DeskControls } from './desk-controls.ts'
import type { Question } from '../core/talk/question.ts'
import { isPlan, buildPrompt, planAnswer, planQuestion } from '../agents/native/plan-card.ts'

export type FollowUpParts = { controls: DeskControls; errands: CommandRunner }

/** Cards after a turn: the agent's questions, or its plan for approval. */
export class FollowUpCards {
  #parts: FollowUpParts
  #instead = new AbortController()

  constructor(parts: FollowUpParts) {
    this.#parts = parts
  }

  after({ outcome, by, asks }: TurnSummary): void {
    const { controls } = this.#parts
    if (!outcome?.ok) return
    /** The agent that asked gets the answer. */
    const tell = (prompt: string) => (controls.aim(by), controls.send(prompt))
    if (outcome.asks !== undefined) return this.#put(answerCard(asks, by, tell))
    if (controls.app().settings.permissions.mode !== 'plan' || !isPlan(outcome.text)) return
    const build = (prompt: string) => (controls.leavePlan(), tell(prompt))
    this.#put(planCard(outcome.text, by, { build, change: tell }))
  }

  /** Withdraws the card, because a typed prompt is an answer too. */
  withdraw(): void {
    this.#instead.abort()
  }

  #put(command: Command): void {
    const instead = (this.#instead = new AbortController()).signal
    const run: Command['run'] = (args, world) =>
      command.run(args, { ...world, signal: AbortSignal.any([world.signal, instead]) })
    // The command shows its own errors; the desk goes on beside its card.
    void this.#parts.errands.run({ ...command, run }, '')
  }
}

/** Asks the questions that a turn ended with; the answers become the next prompt. Leaving the card lets the user type instead. */
export function answerCard(asks: readonly Question[], by: string | undefined, send: (prompt: string) => void): Command {
  return {
    name: 'answer',
    help: 'Answer the questions of the last turn.',
    async run(_args, { ask, signal }) {
      const answers: string[] = []
      for (const question of asks) {
        const picks = await ask({ ...question, ...(by === undefined ? {} : { agent: by }) }, signal)
        if (!picks || signal.aborted) return
        answers.push(`${question.text} ${picks.map((pick) => labelOf(question, pick)).join(', ')}`)
      }
      send(answers.join('\n'))
    },
  }
}

/** A pick that is no option is free text. */
function labelOf({ options }: Question, pick: string): string {
  return options.find(({ id }) => id === pick)?.label ?? pick
}

export type Approval = { build(prompt: string): void; change(wish: string): void }

/** Asks for approval of a plan; an approved plan is the prompt of the turn that builds it. */
export function planCard(plan: string, by: string | undefined, { build, change }: Approval): Command {
  return {
    name: 'approve',
    help: 'Build, change or drop the last plan.',
    async run(_args, { ask, signal, say }) {
      const question = { ...planQuestion(plan), ...(by === undefined ? {} : { agent: by }) }
      const answer = planAnswer(await ask(question, signal))
      if (!answer || signal.aborted) return
      if (answer.then === 'build') build(buildPrompt(plan))
      else if (answer.then === 'drop') say('The plan was dropped. /plan leaves plan mode.', 'note')
      else if (answer.wish === undefined) say('Type what should change, and a new plan is made.', 'note')
      else change(answer.wish)
    },
  }
}
