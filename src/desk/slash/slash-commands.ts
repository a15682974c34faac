import type { Command, CommandList } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { listedCommands } from '../../core/talk/command.ts'
import { messageOf } from '../../base/error-message.ts'
import { addDirCommand } from './agents/add-dir.ts'
import { agentsCommand } from './agents/agents.ts'
import { auditCommand } from './audit.ts'
import { btwCommand } from './conversation/btw.ts'
import { changeCommands } from './conversation/diff-undo.ts'
import { clearCommand } from './conversation/clear.ts'
import { configCommand } from './config.ts'
import { connectCommand } from './agents/connect.ts'
import { contextCommand } from './agents/context.ts'
import { copyCommand } from './conversation/copy.ts'
import { crewCommand } from './agents/crew.ts'
import { dashboardCommand } from './dashboard.ts'
import { doctorCommand } from './doctor.ts'
import { exportCommand } from './conversation/export.ts'
import { goalCommand } from './agents/goal.ts'
import { historyCommand } from './conversation/history.ts'
import { importCommand } from './import.ts'
import { initCommand } from './init.ts'
import { jobCommands } from './agents/jobs.ts'
import { leashCommand } from './agents/leash.ts'
import { loopCommand } from './agents/loop.ts'
import { mcpCommand } from './agents/mcp.ts'
import { coordinatorCommand, modeCommand, planCommand } from './agents/mode.ts'
import { effortCommand, modelCommands } from './agents/model.ts'
import { permissionsCommand } from './agents/permissions.ts'
import { rotationCommands } from './agents/rotation.ts'
import { screenCommands } from './conversation/screen.ts'
import { sessionCommands } from './conversation/sessions.ts'
import { setupCommand } from './setup.ts'
import { OngoingWork } from './shared/ongoing-work.ts'
import { isTrusted } from './shared/native-agent.ts'
import { statusCommand } from './status.ts'
import { skillCommands, commandsOfSkills } from './agents/skills.ts'
import { raceCommand } from './agents/race.ts'
import { reviewCommand } from './agents/review.ts'
import { promptCommands } from './agents/server-prompts.ts'
import { rememberCommand } from './conversation/remember.ts'
import { rewindCommand } from './conversation/rewind.ts'
import { refreshSystemCommand } from './system.ts'
import { themeCommand } from './theme.ts'
import { thinkCommand } from './agents/think.ts'
import { thumbCommands } from './conversation/thumb.ts'
import { todosCommand } from './agents/todos.ts'
import { trustCommand } from './agents/trust.ts'
import { usageCommand } from './usage.ts'
import type { FileCommandList } from './file-commands.ts'
import { fileCommands } from './file-commands.ts'
import { vimCommand } from './vim.ts'
import { viewCommands } from './conversation/compact-view.ts'
import { workersCommand } from './agents/workers.ts'

/** termaite's own commands. */
function builtInCommands(controls: DeskControls): Command[] {
  const ongoing = new OngoingWork()
  const commands: Command[] = [
    ...screenCommands(() => commands),
    ...rotationCommands(controls),
    agentsCommand(controls),
    leashCommand(controls),
    addDirCommand(controls),
    thinkCommand(controls),
    ...changeCommands(controls),
    btwCommand(controls),
    reviewCommand(controls),
    raceCommand(controls),
    goalCommand(controls, ongoing),
    loopCommand(controls, ongoing),
    rewindCommand(controls),
    ...thumbCommands(controls),
    ...sessionCommands(controls),
    exportCommand(controls),
    clearCommand(controls),
    ...viewCommands(controls),
    historyCommand(controls),
    copyCommand(controls),
    usageCommand(controls),
    dashboardCommand(controls),
    initCommand(controls),
    importCommand(controls),
    rememberCommand(controls),
    statusCommand(controls),
    doctorCommand(controls, () => commands.map(({ name }) => name)),
    configCommand(controls),
    themeCommand(controls),
    vimCommand(controls),
    setupCommand(controls),
    modeCommand(controls),
    coordinatorCommand(controls),
    planCommand(controls),
    auditCommand(controls),
    ...modelCommands(controls),
    effortCommand(controls),
    connectCommand(controls),
    mcpCommand(controls),
    ...skillCommands(controls),
    permissionsCommand(controls),
    trustCommand(controls),
    todosCommand(controls),
    ...jobCommands(controls),
    crewCommand(controls),
    workersCommand(controls),
    contextCommand(controls),
    refreshSystemCommand(controls),
  ]
  return commands
}

/** The names and descriptions of termaite's own commands, for use without a desk; they cannot run. */
export const builtInTable = (): readonly Omit<Command, 'run' | 'complete'>[] => builtInCommands(noDesk)

export const builtInNames = (): string[] => builtInTable().map(({ name }) => name)

const noDesk = new Proxy({} as DeskControls, {
  get() {
    throw new Error('there is no desk here')
  },
})

/**
 * All slash commands that `suits` accepts. `warn` gets a message once for each fault of a file that cannot be used; `changed` is called
 * when the list changes.
 */
export function slashCommands(
  controls: DeskControls,
  warn: (words: string) => void = () => {},
  changed: () => void = () => {},
  suits: (command: Command) => boolean = () => true,
): CommandList {
  const builtIn = builtInCommands(controls)
  const taken = builtIn.map(({ name }) => name)
  const told = new Set<string>()
  const all: Command[] = []
  let own: Command[] = []
  let skills: Command[] = []
  const arrange = async () => {
    const { servers } = controls.app().native.state.mcp
    const names = [...builtIn, ...own, ...skills].map(({ name }) => name)
    put(promptCommands(controls, await servers, names))
  }
  const put = (served: readonly Command[]) => {
    const before = listedCommands(all)
    const now = [...builtIn, ...own, ...skills, ...served].filter(suits).map(toldWhenBroken)
    all.splice(0, Infinity, ...now.map((command) => followed(command, refresh)))
    if (listedCommands(all) !== before) changed()
  }
  const take = ({ commands, warnings }: FileCommandList) => {
    own = commands
    for (const words of warnings) if (!told.has(words)) warn(words)
    for (const words of warnings) told.add(words)
  }
  // Files and trust change, so the list is made again after each command.
  const refresh = async () => {
    // Checking trust takes long, and is unnecessary if the project has no commands.
    const untrusted = fileCommands(controls, taken, false)
    const trusted = untrusted.untrusted && (await isTrusted(controls.app()))
    take(trusted ? fileCommands(controls, taken, true) : untrusted)
    const names = [...builtIn, ...own].map(({ name }) => name)
    skills = await commandsOfSkills(controls, names).catch(() => [])
    await arrange()
  }
  // A server's prompts are added once the server has sent them, and are removed with the server.
  controls.app().native.state.mcp.changed.add(() => {
    void arrange()
  })
  // The commands of a trusted project and of skills are added once they have been read.
  take(fileCommands(controls, taken, false))
  put([])
  return Object.assign(all, { refresh })
}

function followed(command: Command, then: () => Promise<unknown>): Command {
  return {
    ...command,
    async run(args, world) {
      await command.run(args, world)
      await then().catch(() => {})
    },
  }
}

/** Catches a command's errors and shows them on the screen where it was typed. */
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
