import type { Command } from '../core/talk/command.ts'
import type { OtherProcesses } from './other-processes.ts'
import type { Audience } from './audience.ts'
import type { CommandRunner } from './command-runner.ts'
import type { PromptQueue } from '../turn/prompt-queue.ts'
import type { DeskApp } from './desk-app.ts'
import type { TurnRunner } from './turn-runner.ts'
import { oneLine } from '../base/text/table.ts'
import { withoutPictureLinks } from '../core/talk/pictures.ts'
import { atDesk, noAgentWords } from '../settings/enabled-agents.ts'

type PromptSenderParts = {
  deskApp: DeskApp
  turns: TurnRunner
  others: OtherProcesses
  runner: CommandRunner
  queue: PromptQueue
  audience: Audience
  /** The command that runs when no agent is configured. */
  firstStart: Command
  say(text: string, how?: 'error'): void
}

/** Decides where a prompt goes: to a turn in another process, to a turn here, or back into the input when no agent can take it. */
export class PromptSender {
  #parts: PromptSenderParts

  constructor(parts: PromptSenderParts) {
    this.#parts = parts
  }

  send(prompt: string): void {
    const { deskApp, turns, others } = this.#parts
    // Neither rejects: the setup shows its own errors, and another process that does not answer is treated as gone.
    if (deskApp.nobody) void this.#setUpAndSend(prompt)
    else if (turns.busy || !(others.busy || others.isMeeting)) turns.submit(prompt)
    else void this.#sendElsewhere(prompt)
  }

  /** Sends the prompt from the command line; any obstacles have already been reported. */
  first(prompt: string): void {
    this.#sendOrGiveBack(prompt)
  }

  /** Runs the setup if no agent is configured. If all agents are disabled, it only reports that. */
  async setUp(start = this.#parts.firstStart): Promise<void> {
    const { deskApp, runner, say } = this.#parts
    const { settings } = deskApp.app
    if (settings.agents.length === 0) await runner.run(start, '')
    else say(noAgentWords(settings, atDesk), 'error')
  }

  async #setUpAndSend(prompt: string): Promise<void> {
    const sent = this.#parts.audience.send(prompt)
    await this.setUp()
    this.#parts.audience.unsend(sent)
    this.#sendOrGiveBack(prompt)
  }

  #sendOrGiveBack(prompt: string): void {
    if (this.#parts.deskApp.nobody) this.#parts.runner.screen?.fill(prompt)
    else this.send(prompt)
  }

  async #sendElsewhere(prompt: string): Promise<void> {
    const { turns, others, queue, audience, say } = this.#parts
    const sent = audience.send(prompt)
    await others.met()
    const taken = await others.steer(prompt)
    audience.unsend(sent)
    if (taken) say(`Sent to the turn that runs in the other process: ${oneLine(withoutPictureLinks(prompt), 200)}`)
    else if (others.busy) queue.add(prompt)
    else turns.submit(prompt)
  }
}
