import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../hold.ts'
import { messageOf } from '../../base/error-message.ts'
import { agentsCommand } from './agents.ts'
import { auditCommand } from './audit.ts'
import { changeCommands } from './changes.ts'
import { clearCommand } from './clear.ts'
import { configCommand } from './config.ts'
import { connectCommand } from './connect.ts'
import { contextCommand } from './context.ts'
import { copyCommand } from './copy.ts'
import { crewCommand } from './crew.ts'
import { historyCommand } from './history.ts'
import { initCommand } from './init.ts'
import { leashCommand } from './leash.ts'
import { mcpCommand } from './mcp.ts'
import { modeCommand } from './mode.ts'
import { modelsCommand } from './models.ts'
import { permissionsCommand } from './permissions.ts'
import { planCommand } from './plan.ts'
import { rotationCommands } from './rotation.ts'
import { screenCommands } from './screen.ts'
import { sessionCommands } from './sessions.ts'
import { setupCommand } from './setup.ts'
import { skillCommands } from './skills.ts'
import { refreshSystemCommand } from './system.ts'
import { thinkCommand } from './think.ts'
import { todosCommand } from './todos.ts'
import { triggerCommands } from './triggers.ts'
import { trustCommand } from './trust.ts'
import { usageCommand } from './usage.ts'
import { userCommands } from './user.ts'
import { viewCommands } from './view.ts'

/** Every command that can be typed after a slash; `warn` is told of the person's own ones that cannot be used. */
export function slashCommands(hold: Hold, warn: (words: string) => void = () => {}): Command[] {
  const builtIn = [
    ...screenCommands,
    ...rotationCommands(hold),
    agentsCommand(hold),
    leashCommand(hold),
    thinkCommand(hold),
    ...changeCommands(hold),
    ...sessionCommands(hold),
    clearCommand(hold),
    ...viewCommands(hold),
    historyCommand(hold),
    copyCommand(hold),
    usageCommand(hold),
    initCommand(hold),
    configCommand(hold),
    setupCommand(hold),
    modeCommand(hold),
    planCommand(hold),
    auditCommand(hold),
    modelsCommand(hold),
    connectCommand(hold),
    mcpCommand(hold),
    ...skillCommands(hold),
    permissionsCommand(hold),
    trustCommand(hold),
    todosCommand(hold),
    crewCommand(hold),
    contextCommand(hold),
    refreshSystemCommand(hold),
  ]
  const taken = builtIn.map(({ name }) => name)
  const own = userCommands(hold, taken)
  for (const words of own.warnings) warn(words)
  const fixed = [...builtIn, ...own.commands]
  const all: Command[] = []
  const names = fixed.map(({ name }) => name)
  // Skills come and go with files and with trust: what can be typed is looked at again after each command.
  const refresh = async () => {
    const triggers = await triggerCommands(hold, names).catch(() => [])
    all.splice(fixed.length, Infinity, ...triggers.map(toldWhenBroken))
  }
  all.push(...fixed.map(toldWhenBroken).map((command) => followed(command, refresh)))
  void refresh()
  return all
}

function followed(command: Command, then: () => Promise<void>): Command {
  return { ...command, run: (args, world) => command.run(args, world).then(then) }
}

/** A command never throws: what went wrong is said where it was typed. */
function toldWhenBroken(command: Command): Command {
  return {
    ...command,
    async run(args, world) {
      try {
        await command.run(args, world)
      } catch (error) {
        world.say(messageOf(error), 'error')
      }
    },
  }
}
