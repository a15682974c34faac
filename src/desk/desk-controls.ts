import type { Leash, Strategy, WorkMode } from '../core/work/agent.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Standing } from '../faces/chat/chat-desk.ts'
import type { App } from '../app/app.ts'
import type { TurnMaker } from '../app/turn.ts'
import type { ModelChoice } from '../settings/agent-settings.ts'
import type { DeskStatus } from './desk-status.ts'
import type { DeskApp } from './desk-app.ts'
import type { TurnRunner } from './turn-runner.ts'
import { UsageError } from '../core/io.ts'

/** What a slash command can turn at the desk it was typed at. */
export interface DeskControls {
  /** As things stand now: another one after `open` and `reload`. */
  app(): App
  standing(): Standing
  /** Goes on in another session of this project: a fresh one, or one that is there, by id. */
  open(session: { fresh: true; name?: string } | { id: string }): Promise<void>
  /** Reads the settings anew; throws a UsageError that names what is wrong, and then nothing has changed. */
  reload(): Promise<void>
  /** Who takes the next turn, that one only; undefined gives it back to the rotation. */
  aim(agent: string | undefined): void
  setStrategy(strategy: Strategy): void
  setLeash(leash: Leash): void
  /** How turns of this project are thought through from now on. */
  setThinking(how: Thinking): Promise<void>
  /** Which model a native agent asks until this process ends. */
  setModel(agent: string, choice: ModelChoice): void
  /** Gives what the person should know of it; throws a UsageError where nobody could work so. */
  setMode(mode: WorkMode): Promise<string[]>
  /** Back to what there was before something was planned. */
  leavePlan(): void
  /** A turn of the command's own, shown and cancelled like any other; throws a UsageError while another one is at work. */
  begin(prompt: string, make: TurnMaker): Promise<void>
  /** Sends a prompt as if it had been typed. */
  send(prompt: string): void
  /** The last answer of the conversation as it is on the screen. */
  lastAnswer(): Promise<string | undefined>
}

export type DeskControlsParts = {
  station: DeskApp
  work: TurnRunner
  ledger: DeskStatus
  /** Leaves what waits here, and says what is there once the station has moved. */
  moving(move: () => Promise<void>): Promise<void>
  send(prompt: string): void
}

const atWork = 'a turn is at work; cancel it first (Esc), or wait for its end.'

/** What a slash command turns at this desk: each time it says how things stand then. */
export class LiveDeskControls implements DeskControls {
  #parts: DeskControlsParts

  constructor(parts: DeskControlsParts) {
    this.#parts = parts
  }

  app = (): App => this.#parts.station.app

  standing = (): Standing => this.#parts.ledger.now

  async open(session: Parameters<DeskControls['open']>[0]): Promise<void> {
    const { station, work, moving } = this.#parts
    if (work.busy) throw new UsageError(atWork)
    await moving(() => station.enter(session))
  }

  async reload(): Promise<void> {
    await this.#parts.station.reload()
    await this.#parts.ledger.stand()
  }

  aim(agent: string | undefined): void {
    this.#parts.work.aim(agent)
    void this.#parts.ledger.stand()
  }

  setStrategy(strategy: Strategy): void {
    this.#parts.station.setStrategy(strategy)
    void this.#parts.ledger.stand()
  }

  setLeash(leash: Leash): void {
    this.#parts.station.setLeash(leash)
    void this.#parts.ledger.stand()
  }

  async setThinking(how: Thinking): Promise<void> {
    await this.#parts.station.setThinking(how)
    await this.#parts.ledger.stand()
  }

  setModel(agent: string, choice: ModelChoice): void {
    this.#parts.station.setModel(agent, choice)
    void this.#parts.ledger.stand()
  }

  async setMode(mode: WorkMode): Promise<string[]> {
    const words = await this.#parts.station.setMode(mode)
    void this.#parts.ledger.stand()
    return words
  }

  leavePlan(): void {
    this.#parts.station.leavePlan()
    void this.#parts.ledger.stand()
  }

  async begin(prompt: string, make: TurnMaker): Promise<void> {
    if (!this.#parts.work.begin(prompt, make)) throw new UsageError(atWork)
  }

  send(prompt: string): void {
    this.#parts.send(prompt)
  }

  lastAnswer(): Promise<string | undefined> {
    return this.#parts.station.pages.lastAnswer()
  }
}
