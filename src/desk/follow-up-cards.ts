import type { Command } from '../core/talk/command.ts'
import type { TurnSummary } from './turn-summary.ts'
import type { CommandRunner } from './command-runner.ts'
import type { DeskControls } from './desk-controls.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Question } from '../core/talk/question.ts'
import type { AppRecords } from '../turn/app.ts'
import type { Clock } from '../base/time/clock.ts'
import type { LeftProcess } from '../base/process/left-processes.ts'
import { endLeft } from '../base/process/left-processes.ts'
import { defined } from '../base/defined.ts'
import { localTime } from '../base/time/local-time.ts'
import { mayMeanLimit } from '../core/talk/limit-message.ts'
import { resetTime } from '../core/talk/reset-time.ts'
import { afterFailure, away, healthDoc } from '../turn/rotation/health.ts'
import { learn, learnedAs } from '../turn/rotation/learned-quotas.ts'
import { buildPrompt, planAnswer, planQuestion } from '../native/loop/plan-card.ts'
import { isPlan } from '../core/work/plan-answer.ts'
import { consentOptions } from '../core/talk/consent.ts'

type FollowUpParts = { controls: DeskControls; runner: CommandRunner }

/** Cards after a turn: the agent's questions, its plan for approval, or the meaning of an unknown failure. */
export class FollowUpCards {
  #parts: FollowUpParts
  #instead = new AbortController()

  constructor(parts: FollowUpParts) {
    this.#parts = parts
  }

  after({ outcome, by, asks, crashed }: TurnSummary): void {
    const { controls } = this.#parts
    if (crashed && (!outcome?.ok || outcome.asks === undefined)) void this.#askAboutFault(controls.app(), crashed)
    const left = controls.app().left.processes
    if (!outcome?.ok || outcome.asks === undefined)
      if (left.length > 0) this.#put(leftCard(left, controls.app().io.clock))
    if (!outcome?.ok) return
    /** The agent that asked gets the answer. */
    const tell = (prompt: string) => (controls.aim(by), controls.send(prompt))
    if (outcome.asks !== undefined) return this.#put(answerCard(asks, by, tell))
    if (controls.app().settings.permissions.mode !== 'plan' || !(outcome.plan ?? isPlan(outcome.text))) return
    const build = (prompt: string) => (controls.leavePlan(), tell(prompt))
    this.#put(planCard(outcome.text, by, { build, change: tell }))
  }

  /** Asks once for the meaning of a message that termaite does not know. Does not ask if the health record cannot be read. */
  async #askAboutFault(app: AppRecords, crashed: Crashed): Promise<void> {
    if (!mayMeanLimit(crashed.message, app.io.clock.now())) return
    const health = await healthDoc(app.store)
      .read()
      .catch(() => undefined)
    if (health && learnedAs(health, crashed.name, crashed.message) === undefined) this.#put(faultCard(app, crashed))
  }

  /** Withdraws the card, because a typed prompt is an answer too. */
  withdraw(): void {
    this.#instead.abort()
  }

  #put(command: Command): void {
    const instead = (this.#instead = new AbortController()).signal
    const run: Command['run'] = (args, world) =>
      command.run(args, { ...world, signal: AbortSignal.any([world.signal, instead]) })
    // The command shows its own errors; the desk continues beside its card.
    void this.#parts.runner.run({ ...command, run }, '')
  }
}

type Crashed = { name: string; message: string }

/** Asks whether a failure meant an exhausted quota, and remembers the answer for the next time. */
export function faultCard(app: AppRecords, { name, message }: Crashed): Command {
  return {
    name: 'failure',
    help: 'Say whether the last failure was a spent quota.',
    async run(_args, { ask, signal, say }) {
      const picks = await ask(
        {
          about: 'choice',
          text: `Was that the end of ${name}'s quota? termaite does not know this message, and remembers your answer.`,
          from: [],
          shows: [{ type: 'text', text: message }],
          options: consentOptions({
            always: { id: 'quota', label: `Yes, it was a quota: do not ask ${name} again until it is back` },
            no: { id: 'fault', label: 'No, it was something else' },
          }),
          // A yes parks the agent, so it is never the answer of a key that was meant for something else.
          enter: 'fault',
          unanswered: 'no answer; termaite remembers nothing',
        },
        signal,
      )
      const as = picks?.includes('quota') ? 'quota' : picks?.includes('fault') ? 'fault' : undefined
      if (as === undefined) return
      const now = app.io.clock.now()
      const failure = defined<Failure>({ kind: 'quota', message, retryAt: resetTime(message, now) })
      const health = await healthDoc(app.store).update((before) => {
        const after = learn(before, name, message, as)
        return as === 'quota' ? afterFailure(after, name, failure, now, app.settings.cooldown) : after
      })
      const until = away(health, name, now)?.until
      if (as === 'quota' && until !== undefined)
        say(
          `${name} is out of quota and is asked again after ${localTime(until)}. termaite doctor checks earlier.`,
          'note',
        )
    },
  }
}

/** Offers to stop the processes that a turn left running. */
export function leftCard(left: readonly LeftProcess[], clock: Clock): Command {
  return {
    name: 'left-running',
    help: 'End the processes that the last turn left running.',
    async run(_args, { ask, signal, say }) {
      const one = left.length === 1
      const picks = await ask(
        {
          about: 'choice',
          text: one
            ? 'The turn left a process running. End it?'
            : `The turn left ${left.length} processes running. End them?`,
          from: [],
          shows: [{ type: 'text', text: left.map(({ pid, command }) => `${pid}  ${command}`).join('\n') }],
          options: consentOptions({
            once: { id: 'end', label: one ? 'Yes, end it' : 'Yes, end them' },
            no: { id: 'leave', label: one ? 'No, let it run' : 'No, let them run' },
          }),
          // A server that the person wanted must not stop because they pressed Enter.
          enter: 'leave',
        },
        signal,
      )
      if (!picks?.includes('end')) return
      const alive = await endLeft(left, clock)
      if (alive.length > 0) say(`These processes could not be stopped: ${alive.join(', ')}.`, 'error')
      else say(one ? 'The process was stopped.' : `The ${left.length} processes were stopped.`, 'note')
    },
  }
}

/** Asks the questions that a turn ended with; the answers become the next prompt. Leaving the card lets the user type instead. */
function answerCard(asks: readonly Question[], by: string | undefined, send: (prompt: string) => void): Command {
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

/** A pick that is not an option is free text. */
function labelOf({ options }: Question, pick: string): string {
  return options.find(({ id }) => id === pick)?.label ?? pick
}

type Approval = { build(prompt: string): void; change(wish: string): void }

/** Asks for approval of a plan; an approved plan is the prompt of the turn that builds it. */
function planCard(plan: string, by: string | undefined, { build, change }: Approval): Command {
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
