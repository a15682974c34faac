import type { Command, CommandWorld } from '../../core/talk/command.ts'
import type { FileCommand, FileCommands } from '../../people/commands/command-files.ts'
import type { DeskControls } from '../desk-controls.ts'
import { findFileCommands } from '../../people/commands/command-files.ts'
import { commandPrompt } from '../../people/commands/command-prompt.ts'
import { UsageError } from '../../core/io.ts'
import { nativeAgents } from '../../settings/enabled-agents.ts'
import { isTrusted } from './shared/native-agent.ts'
import { askForTrust } from './agents/trust.ts'

/** The commands in files; `untrusted`: some commands of the project are listed but not usable yet. */
export type FileCommandList = { commands: Command[]; warnings: string[]; untrusted: boolean }

/** The commands in files as they are now. Until the folder is trusted, the commands of the project are listed but not usable. */
export function fileCommands(controls: DeskControls, taken: readonly string[], trusted: boolean): FileCommandList {
  const { commands, warnings, unused } = find(controls, taken, trusted)
  const names = new Set(commands.map(({ name }) => name))
  return {
    commands: [
      ...commands.map((one) => ({
        name: one.name,
        ...(one.hint === undefined ? {} : { words: one.hint }),
        help: `${one.description} (${one.from === 'project' ? one.place : 'your own'})`,
        run: (args: string, world: CommandWorld) => use(controls, taken, one.name, args, world),
      })),
      ...unused
        .filter(({ name }) => !names.has(name))
        .map(({ name, place }) => ({
          name,
          help: `Not used until you trust this folder: ${place}`,
          run: (args: string, world: CommandWorld) => use(controls, taken, name, args, world),
        })),
    ],
    warnings,
    untrusted: unused.length > 0,
  }
}

function find(controls: DeskControls, taken: readonly string[], trusted: boolean): FileCommands {
  const { cwd, root, home } = controls.app().place
  return findFileCommands({ cwd, root, home, trusted }, taken)
}

/** Sends the prompt of a command. Its file and its trust are checked again at each use. */
async function use(
  controls: DeskControls,
  taken: readonly string[],
  name: string,
  args: string,
  world: CommandWorld,
): Promise<void> {
  const command = await trustedCommand(controls, taken, name, world)
  if (!command) return
  const { prompt, terms } = await commandPrompt(controls.app(), command, args, {
    ask: world.ask,
    signal: world.signal,
    say: (words) => world.say(words, 'note'),
  })
  const own = nativeAgents(controls.app().settings).map((agent) => agent.name)
  const { next } = controls.standing()
  if ((terms.tools ?? terms.model) !== undefined && (own.length === 0 || (next !== undefined && !own.includes(next))))
    world.say(
      `Only termaite’s own agent keeps to the tools and the model that ${command.place} names; another agent keeps to its leash.`,
      'note',
    )
  controls.send(prompt, terms)
}

/** The command as its file is now; undefined if it belongs to the project and the person does not trust the folder. */
async function trustedCommand(
  controls: DeskControls,
  taken: readonly string[],
  name: string,
  world: CommandWorld,
): Promise<FileCommand | undefined> {
  const look = async () => find(controls, taken, await isTrusted(controls.app()))
  const is = (one: { name: string }) => one.name === name
  const found = await look()
  const command = found.commands.find(is)
  if (command) return command
  const waiting = found.unused.find(is)
  if (waiting) {
    if (!(await askForTrust(controls, world))) {
      world.say(`/${name} was not used: ${waiting.place} comes with this folder, which is not trusted.`, 'note')
      return undefined
    }
    return (await look()).commands.find(is) ?? missing(name)
  }
  return missing(name, found.warnings)
}

function missing(name: string, warnings: readonly string[] = []): never {
  const last = name.split(':').at(-1)!
  const why = warnings.find((words) => words.includes(`/${last}.md `))
  throw new UsageError(why ?? `the file of /${name} is gone.`)
}
