import type { Leash, Strategy, WorkMode } from '../core/work/agent.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Standing } from '../faces/chat/chat-desk.ts'
import type { App } from '../app/app.ts'
import type { TurnMaker } from '../app/turn.ts'
import type { Hold } from './hold.ts'
import type { Ledger } from './ledger.ts'
import type { ModelChoice } from '../settings/agent-settings.ts'
import type { Station } from './station.ts'
import type { Work } from './work.ts'
import { UsageError } from '../core/io.ts'

export type HoldingParts = {
  station: Station
  work: Work
  ledger: Ledger
  /** Leaves what waits here, and says what is there once the station has moved. */
  moving(move: () => Promise<void>): Promise<void>
  send(prompt: string): void
}

const atWork = 'a turn is at work; cancel it first (Esc), or wait for its end.'

/** What a slash command turns at this desk: each time it says how things stand then. */
export class Holding implements Hold {
  #parts: HoldingParts

  constructor(parts: HoldingParts) {
    this.#parts = parts
  }

  app = (): App => this.#parts.station.app

  standing = (): Standing => this.#parts.ledger.now

  async open(session: Parameters<Hold['open']>[0]): Promise<void> {
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
