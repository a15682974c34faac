import type { App } from '../turn/app.ts'
import type { Command, CommandList } from '../core/talk/command.ts'
import type { CommandRunner } from './command-runner.ts'
import type { PromptQueue } from '../turn/prompt-queue.ts'
import type { TurnRunner } from './turn-runner.ts'
import { personServers } from '../native/person-servers.ts'
import { promptCommand } from '../native/tools/mcp/server-status.ts'

type TypedParts = {
  app(): App
  commands: CommandList
  runner: CommandRunner
  queue: PromptQueue
  turns: TurnRunner
  /** Aborted when the desk closes. */
  over: AbortSignal
  /** Sends a prompt that the person typed, or one of an MCP server, called as `/server:prompt`. */
  send(prompt: string): void
}

/**
 * The slash commands that a person types: finds each one, even if its file is new, and runs it. A prompt that is typed right after a command
 * is held in the queue until its end, because the command may change the session, the agent or the files that the prompt is about.
 */
export class TypedCommands {
  #parts: TypedParts
  /** The commands at work that a prompt waits for. */
  #atWork = new Set<Promise<void>>()

  constructor(parts: TypedParts) {
    this.#parts = parts
  }

  /** Runs a command, which shows its own errors; the input stays open meanwhile. An unknown name opens the palette. */
  run(name: string, args: string): void {
    const { commands, runner } = this.#parts
    const found = this.#found(name)
    if (found) this.#hold(runner.run(found, args), found.beside)
    // The file of the command may be new.
    else if (commands.refresh) this.#hold(this.#runNew(name, args))
    else this.#runUnknown(name, args)
  }

  /** Sends a prompt once the commands before it are done. */
  send(prompt: string): void {
    if (this.#atWork.size > 0) this.#parts.queue.hold(prompt)
    else this.#parts.send(prompt)
  }

  /** Does something once the commands that were typed until now are done. Without such a command it is done at once, in the same frame. */
  next(work: () => Promise<unknown>): void {
    if (this.#atWork.size === 0) void work()
    else void Promise.all(this.#atWork).then(work)
  }

  /** Cancels the newest command. A prompt that waits for it goes back into the input, because the person wants to think again. */
  cancel(): boolean {
    const { runner, queue } = this.#parts
    if (!runner.cancel()) return false
    for (const typed of queue.takeHeld().reverse()) runner.screen?.fill(typed)
    return true
  }

  /** Looks for commands in files again; the screens get an event if the list changed. */
  async look(): Promise<void> {
    await this.#parts.commands.refresh?.().catch(() => {})
  }

  #found(name: string): Command | undefined {
    return this.#parts.commands.find((one) => one.name === name)
  }

  async #runNew(name: string, args: string): Promise<void> {
    await this.look()
    const found = this.#found(name)
    if (!found) return this.#runUnknown(name, args)
    const work = this.#parts.runner.run(found, args)
    if (!found.beside) await work
  }

  #runUnknown(name: string, args: string): void {
    if (name.includes(':')) this.#hold(this.#sendServed(name, args))
    else this.#parts.runner.screen?.palette(name)
  }

  #hold(work: Promise<void>, beside = false): void {
    if (beside) return
    this.#atWork.add(work)
    void work.then(() => {
      this.#atWork.delete(work)
      if (this.#atWork.size === 0) this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    const { queue, turns, over, send } = this.#parts
    if (over.aborted) return
    queue.release()
    while (!turns.busy) {
      const next = queue.next()
      if (next === undefined) return
      send(next)
    }
  }

  /** Sends a prompt of an MCP server that is not in the list: the turn waits for the server, and reports why it cannot be used. */
  async #sendServed(name: string, args: string): Promise<void> {
    const { app, runner, send } = this.#parts
    const servers = await personServers(app())
      .names()
      .catch(() => [])
    const isServed = servers.some((server) => name.startsWith(promptCommand(server, '')))
    const text = `/${name} ${args}`.trimEnd()
    if (isServed) return send(text)
    runner.screen?.fill(text)
    runner.screen?.palette(name)
  }
}
