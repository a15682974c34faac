import type { Leash, Strategy, WorkMode } from '../core/work/agent.ts'
import type { Thinking } from '../core/talk/framework.ts'
import type { Standing } from '../faces/chat/chat-desk.ts'
import type { App } from '../app/app.ts'
import type { TurnMaker } from '../app/turn.ts'
import type { ModelChoice } from '../settings/agent-settings.ts'

/** What a slash command can turn at the desk it was typed at. */
export interface Hold {
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
