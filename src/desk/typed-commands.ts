import type { App } from '../turn/app.ts'
import type { CommandList } from '../core/talk/command.ts'
import type { CommandRunner } from './command-runner.ts'
import { personServers } from '../native/person-servers.ts'
import { promptCommand } from '../native/tools/mcp/server-status.ts'

type TypedParts = {
  app(): App
  commands: CommandList
  runner: CommandRunner
  /** Sends a prompt of an MCP server, called as `/server:prompt`. */
  send(prompt: string): void
}

/** The slash commands that a person types: finds each one, even if its file is new, and runs it. */
export class TypedCommands {
  #parts: TypedParts

  constructor(parts: TypedParts) {
    this.#parts = parts
  }

  /** Runs a command, which shows its own errors; the input stays open meanwhile. An unknown name opens the palette. */
  run(name: string, args: string, again = true): void {
    const { commands, runner } = this.#parts
    const command = commands.find((one) => one.name === name)
    if (command) void runner.run(command, args)
    // The file of the command may be new.
    else if (again && commands.refresh) void this.look().then(() => this.run(name, args, false))
    else if (name.includes(':')) void this.#sendServed(name, args)
    else runner.screen?.palette(name)
  }

  /** Looks for commands in files again; the screens get an event if the list changed. */
  async look(): Promise<void> {
    await this.#parts.commands.refresh?.().catch(() => {})
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
