import type { Command } from '../core/talk/command.ts'
import type { OtherProcesses } from './other-processes.ts'
import type { CommandRunner } from './command-runner.ts'
import type { PromptQueue } from '../app/prompt-queue.ts'
import type { DeskApp } from './desk-app.ts'
import type { TurnRunner } from './turn-runner.ts'
import { atDesk, nobodyWords } from '../settings/enabled-agents.ts'

export type PromptSenderParts = {
  station: DeskApp
  work: TurnRunner
  elsewhere: OtherProcesses
  errands: CommandRunner
  line: PromptQueue
  /** What is run where nobody is configured yet. */
  firstStart: Command
  say(text: string, how?: 'error'): void
}

/** Where a prompt goes: to the turn at work in another process, to the next turn here, or back, when nobody can take it. */
export class PromptSender {
  #parts: PromptSenderParts

  constructor(parts: PromptSenderParts) {
    this.#parts = parts
  }

  send(prompt: string): void {
    const { station, work, elsewhere } = this.#parts
    if (station.nobody) void this.setUp().then(() => this.#sendOrGiveBack(prompt))
    else if (work.busy || !elsewhere.busy) work.submit(prompt)
    else void this.#sendElsewhere(prompt)
  }

  /** A prompt from before the desk was there: what stands in its way has been said by now. */
  first(prompt: string): void {
    this.#sendOrGiveBack(prompt)
  }

  /** Whoever switched everybody off is not asked who is there. */
  async setUp(): Promise<void> {
    const { station, errands, firstStart, say } = this.#parts
    const { settings } = station.app
    if (settings.agents.length === 0) await errands.run(firstStart, '')
    else say(nobodyWords(settings, atDesk), 'error')
  }

  #sendOrGiveBack(prompt: string): void {
    if (this.#parts.station.nobody) this.#parts.errands.screen?.fill(prompt)
    else this.send(prompt)
  }

  async #sendElsewhere(prompt: string): Promise<void> {
    const { work, elsewhere, line, say } = this.#parts
    if (await elsewhere.steer(prompt)) say('Given to the turn at work in the other process.')
    else if (elsewhere.busy) line.add(prompt)
    else work.submit(prompt)
  }
}
