import type { CommandTerms, Leash, Strategy, WorkMode } from '../core/work/agent.ts'
import type { Usage } from '../core/talk/entry.ts'
import type { InnerWorks } from '../core/work/inner-work.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Standing } from '../chat/desk/chat-desk.ts'
import type { App } from '../turn/app.ts'
import type { TurnMaker } from '../app/turn.ts'
import type { ModelChoice } from '../settings/agent-settings.ts'
import type { DeskStatus } from './desk-status.ts'
import type { DeskApp, WantedSession } from './desk-app.ts'
import type { PlacedPrompt } from './history-pages.ts'
import type { CommandResult, TurnRunner } from './turn-runner.ts'
import type { BackgroundCommands } from '../native/tools/shell/background-commands.ts'
import { defined } from '../base/defined.ts'
import { UsageError } from '../core/io.ts'
import { runTurn } from '../app/turn.ts'
import { DeclinedQuestions } from '../core/turns/declined-questions.ts'

/** Everything that a slash command can read and change at the desk. */
export interface DeskControls {
  /** The current app. `open` and `reload` replace it. */
  app(): App
  standing(): Standing
  /** Switches to another session of this project: a new one, a fork of this one, or an existing one by its id. */
  open(session: WantedSession): Promise<void>
  /** Aborts when another session is opened here. */
  leftSession(): AbortSignal
  /** Shows the new name of the open session. */
  renamed(name: string): Promise<void>
  /** The newest prompts of this session, the newest first. */
  prompts(most: number): Promise<PlacedPrompt[]>
  /** Reads the settings again. On a fault it throws a UsageError and changes nothing. */
  reload(): Promise<void>
  /** Chooses the agent for the next turn only; undefined leaves the choice to the rotation. */
  aim(agent: string | undefined): void
  /** Chooses the agent for all turns until this process ends; undefined leaves the choice to the rotation. */
  stay(agent: string | undefined): void
  setStrategy(strategy: Strategy): void
  setLeash(leash: Leash): void
  /** Sets the thinking framework for this project from now on. */
  setThinking(how: Thinking): Promise<void>
  /** Sets an agent's model and effort until this process ends; undefined returns to those of the settings. */
  setModel(agent: string, choice: ModelChoice | undefined): void
  /** Returns warnings to show. Throws a UsageError when no agent could work in that mode. */
  setMode(mode: WorkMode): Promise<string[]>
  /** Returns to the mode that was active before plan mode. */
  leavePlan(): void
  /** Runs a turn that the command makes itself. Throws a UsageError while another turn runs. */
  begin(prompt: string, make: TurnMaker): Promise<void>
  /** Counts tokens in the status line that were spent beside a turn. */
  spend(usage: Usage): void
  /** Runs a turn once no other runs, and returns how it ended; an abort cancels it. */
  turn(prompt: string, signal: AbortSignal): Promise<TurnEnd>
  /** Runs a command of the person as `!` does, and returns its result; an abort cancels it. */
  command(command: string, signal: AbortSignal): Promise<CommandResult | undefined>
  /** Shows in the status line what goes on by itself; undefined when it is over. */
  showProgress(words: string | undefined): void
  /** Sends a prompt as if it had been typed; `terms` come from the command file that made it. */
  send(prompt: string, terms?: CommandTerms): void
  /** The background commands, by their owner. */
  jobs(): ReadonlyMap<string, BackgroundCommands>
  /** The agents that work inside the running turn of this desk. */
  inside(): InnerWorks
  /** Sends the command that somebody waits for to the background. Returns false if none is running. */
  moveToBackground(): boolean
  /** Has work done when the desk closes. */
  atEnd(work: () => Promise<void>): void
  /** The last answer of the conversation, as the screen shows it. */
  lastAnswer(): Promise<string | undefined>
}

/** The end of a turn; no outcome if it could not begin. `declined`: the question that the person answered with a no, or not at all. */
export type TurnEnd = { outcome?: Outcome; declined?: string }

type DeskControlsParts = {
  deskApp: DeskApp
  turns: TurnRunner
  status: DeskStatus
  /** Runs a switch to another session, and shows that session afterwards. */
  moving(move: () => Promise<void>): Promise<void>
  send(prompt: string, terms?: CommandTerms): void
  atEnd(work: () => Promise<void>): void
}

const atWork = 'a turn is running. Cancel it first (Esc), or wait for its end.'

/** The controls of a live desk. Each change updates the status line. */
export class LiveDeskControls implements DeskControls {
  #parts: DeskControlsParts
  #leaving = new AbortController()

  constructor(parts: DeskControlsParts) {
    this.#parts = parts
  }

  app = (): App => this.#parts.deskApp.app

  standing = (): Standing => this.#parts.status.now

  atEnd(work: () => Promise<void>): void {
    this.#parts.atEnd(work)
  }

  jobs = () => this.#parts.turns.jobs

  inside = () => this.#parts.turns.inside

  moveToBackground(): boolean {
    return this.#parts.turns.front?.move() ?? false
  }

  async open(session: WantedSession): Promise<void> {
    await this.#afterTurn()
    await this.#move(() => this.#parts.deskApp.enter(session))
  }

  leftSession = () => this.#leaving.signal

  async #move(change: () => Promise<void>): Promise<void> {
    await this.#parts.moving(change)
    this.#leaving.abort()
    this.#leaving = new AbortController()
  }

  async renamed(name: string): Promise<void> {
    this.#parts.deskApp.rename(name)
    await this.#parts.status.stand()
  }

  async reload(): Promise<void> {
    await this.#parts.deskApp.reload()
    await this.#parts.status.stand()
  }

  aim(agent: string | undefined): void {
    this.#parts.turns.aim(agent)
    this.#showStatus()
  }

  stay(agent: string | undefined): void {
    this.#parts.turns.stay(agent)
    this.#showStatus()
  }

  setStrategy(strategy: Strategy): void {
    this.#parts.deskApp.setStrategy(strategy)
    this.#showStatus()
  }

  setLeash(leash: Leash): void {
    this.#parts.deskApp.setLeash(leash)
    this.#showStatus()
  }

  async setThinking(how: Thinking): Promise<void> {
    await this.#parts.deskApp.setThinking(how)
    await this.#parts.status.stand()
  }

  setModel(agent: string, choice: ModelChoice | undefined): void {
    this.#parts.deskApp.setModel(agent, choice)
    this.#showStatus()
  }

  async setMode(mode: WorkMode): Promise<string[]> {
    const { deskApp } = this.#parts
    const crosses = (mode === 'coordinator') !== (this.app().mode === 'coordinator')
    if (crosses) await this.#afterTurn()
    let words: string[] = []
    const change = async () => {
      words = await deskApp.setMode(mode)
    }
    await (crosses ? this.#move(change) : change())
    this.#showStatus()
    return words
  }

  /** Waits for a turn that only saves its last facts, and throws a UsageError while an agent works. */
  async #afterTurn(): Promise<void> {
    const { turns } = this.#parts
    await turns.saved()
    if (turns.busy) throw new UsageError(atWork)
  }

  leavePlan(): void {
    this.#parts.deskApp.leavePlan()
    this.#showStatus()
  }

  /** Shows the new status; the change does not wait for the screens. */
  #showStatus(): void {
    void this.#parts.status.stand()
  }

  async begin(prompt: string, make: TurnMaker): Promise<void> {
    await this.#parts.turns.saved()
    if (!this.#parts.turns.begin(prompt, make)) throw new UsageError(atWork)
  }

  spend(usage: Usage): void {
    this.#parts.status.see(usage)
    this.#showStatus()
  }

  send(prompt: string, terms?: CommandTerms): void {
    this.#parts.send(prompt, terms)
  }

  async turn(prompt: string, signal: AbortSignal): Promise<TurnEnd> {
    const { turns } = this.#parts
    const end: TurnEnd = {}
    const declined = new DeclinedQuestions()
    const make: TurnMaker = async function* (app, request) {
      for await (const event of runTurn(app, request)) {
        if (event.type === 'end') end.outcome = event.outcome
        declined.see(event)
        yield event
      }
    }
    const cancel = () => turns.cancel()
    for (;;) {
      await turns.free()
      await turns.saved()
      if (signal.aborted) return {}
      // Somebody else's prompt may have come first.
      if (!turns.begin(prompt, make)) continue
      signal.addEventListener('abort', cancel, { once: true })
      await turns.free()
      signal.removeEventListener('abort', cancel)
      return defined({ ...end, declined: declined.first })
    }
  }

  async command(command: string, signal: AbortSignal): Promise<CommandResult | undefined> {
    const stop = new AbortController()
    const cancel = () => stop.abort()
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    try {
      return await this.#parts.turns.runCommand(command, stop)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  showProgress(words: string | undefined): void {
    this.#parts.status.progress = words
    this.#showStatus()
  }

  lastAnswer(): Promise<string | undefined> {
    return this.#parts.deskApp.pages.lastAnswer()
  }

  prompts(most: number): Promise<PlacedPrompt[]> {
    return this.#parts.deskApp.pages.prompts(most)
  }
}
