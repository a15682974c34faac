import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { commandUsage } from '../../faces/chat/command-search.ts'
import { messageOf } from '../../base/error-message.ts'
import { addDirCommand } from './add-dir.ts'
import { agentsCommand } from './agents.ts'
import { auditCommand } from './audit.ts'
import { changeCommands } from './diff-undo.ts'
import { clearCommand } from './clear.ts'
import { configCommand } from './config.ts'
import { connectCommand } from './connect.ts'
import { contextCommand } from './context.ts'
import { copyCommand } from './copy.ts'
import { crewCommand } from './crew.ts'
import { historyCommand } from './history.ts'
import { initCommand } from './init.ts'
import { jobCommands } from './jobs.ts'
import { leashCommand } from './leash.ts'
import { mcpCommand } from './mcp.ts'
import { modeCommand, planCommand } from './mode.ts'
import { modelsCommand } from './models.ts'
import { permissionsCommand } from './permissions.ts'
import { rotationCommands } from './rotation.ts'
import { screenCommands } from './screen.ts'
import { sessionCommands } from './sessions.ts'
import { setupCommand } from './setup.ts'
import { skillCommands, triggerCommands } from './skills.ts'
import { reviewCommand } from './review.ts'
import { promptCommands } from './server-prompts.ts'
import { rewindCommand } from './rewind.ts'
import { refreshSystemCommand } from './system.ts'
import { thinkCommand } from './think.ts'
import { todosCommand } from './todos.ts'
import { trustCommand } from './trust.ts'
import { usageCommand } from './usage.ts'
import { userCommands } from './user-commands.ts'
import { viewCommands } from './compact-view.ts'

/** All slash commands. `warn` hears of user commands that cannot be used, `changed` of a list that is another one now. */
export function slashCommands(
  controls: DeskControls,
  warn: (words: string) => void = () => {},
  changed: () => void = () => {},
): Command[] {
  const builtIn = [
    ...screenCommands,
    ...rotationCommands(controls),
    agentsCommand(controls),
    leashCommand(controls),
    addDirCommand(controls),
    thinkCommand(controls),
    ...changeCommands(controls),
    reviewCommand(controls),
    rewindCommand(controls),
    ...sessionCommands(controls),
    clearCommand(controls),
    ...viewCommands(controls),
    historyCommand(controls),
    copyCommand(controls),
    usageCommand(controls),
    initCommand(controls),
    configCommand(controls),
    setupCommand(controls),
    modeCommand(controls),
    planCommand(controls),
    auditCommand(controls),
    modelsCommand(controls),
    connectCommand(controls),
    mcpCommand(controls),
    ...skillCommands(controls),
    permissionsCommand(controls),
    trustCommand(controls),
    todosCommand(controls),
    ...jobCommands(controls),
    crewCommand(controls),
    contextCommand(controls),
    refreshSystemCommand(controls),
  ]
  const taken = builtIn.map(({ name }) => name)
  const own = userCommands(controls, taken)
  for (const words of own.warnings) warn(words)
  const fixed = [...builtIn, ...own.commands]
  const all: Command[] = []
  const names = fixed.map(({ name }) => name)
  let triggers: Command[] = []
  const arrange = async () => {
    const { servers } = controls.app().native.state
    const served = promptCommands(controls, await servers, [...names, ...triggers.map(({ name }) => name)])
    const before = all.map(commandUsage).join()
    all.splice(fixed.length, Infinity, ...[...triggers, ...served].map(toldWhenBroken))
    if (all.map(commandUsage).join() !== before) changed()
  }
  // Skills change with files and trust, so the list is made again after each command.
  const refresh = async () => {
    triggers = await triggerCommands(controls, names).catch(() => [])
    await arrange()
  }
  // A server's prompts join the list when the server has sent them, and leave it with the server.
  controls.app().native.state.serversChanged.add(() => {
    void arrange()
  })
  all.push(...fixed.map(toldWhenBroken).map((command) => followed(command, refresh)))
  // The skills join the list when they have been read.
  void refresh()
  return all
}

function followed(command: Command, then: () => Promise<void>): Command {
  return { ...command, run: (args, world) => command.run(args, world).then(then) }
}

/** Catches a command's errors and shows them where it was typed. */
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
