import type { App } from '../../turn/app.ts'
import type { SessionPlace } from '../../native/loop/instructions.ts'
import type { CommandCaller, CommandPrompt } from '../../people/commands/command-prompt.ts'
import { findFileCommands } from '../../people/commands/command-files.ts'
import { commandPrompt } from '../../people/commands/command-prompt.ts'
import { findSkills } from '../../native/loop/skill-search.ts'
import { nearest } from '../../base/text/nearest.ts'
import { closeNative } from '../../native/native-parts.ts'
import { UsageError } from '../../core/io.ts'
import { isTrusted } from './shared/native-agent.ts'
import { builtInNames } from './slash-commands.ts'

/**
 * The prompt of a command in a file, for a run without a desk. Undefined if no file defines a command of this name: then the text is a
 * prompt. A command of an untrusted folder is an error, because nobody would notice that it was not used.
 */
export async function headlessCommand(
  app: App,
  name: string,
  args: string,
  caller: CommandCaller,
): Promise<CommandPrompt | undefined> {
  const { cwd, root, home } = app.place
  const taken = builtInNames()
  const find = (trusted: boolean) => findFileCommands({ cwd, root, home, trusted }, taken)
  const named = <T extends { name: string }>(all: readonly T[]) => all.find((one) => one.name === name)
  const untrusted = find(false)
  // The person's own command is used until the folder is trusted.
  const waiting = named(untrusted.unused)
  const trusted = waiting !== undefined && (await isTrusted(app))
  if (waiting && !trusted && !named(untrusted.commands))
    throw new UsageError(
      `/${name} is not used, because ${waiting.place} comes with this folder, which is not trusted. To trust it, run termaite trust.`,
    )
  const { commands, warnings } = trusted ? find(true) : untrusted
  const command = named(commands)
  if (!command) {
    const why = warnings.find((words) => waiting && words.startsWith(`${waiting.place} `))
    if (why !== undefined) throw new UsageError(why)
    return undefined
  }
  try {
    return await commandPrompt(app, command, args, caller)
  } catch (error) {
    await closeNative(app.native)
    throw error
  }
}

/**
 * Says that the text of a prompt does not name a command, and that it is sent as a prompt. `inShell` are the commands of the program;
 * some of them do what a command of the chat does.
 */
export async function promptNotice(app: App, name: string, inShell: readonly string[]): Promise<string> {
  const sent = 'It is sent as a prompt.'
  if (builtInNames().includes(name))
    return `/${name} works only in the chat.${inShell.includes(name) ? ` In the shell it is: termaite ${name}.` : ''} ${sent}`
  const { cwd, root, home } = app.place
  const at: SessionPlace = { cwd, root, home, trusted: await isTrusted(app) }
  const { commands, unused } = findFileCommands(at, builtInNames())
  const skills = findSkills(at).skills.map((skill) => skill.name)
  if (skills.includes(name)) return `/${name} is a skill, and works as a command only in the chat. ${sent}`
  const near = nearest(name, [...[...commands, ...unused].map((one) => one.name), ...skills])
  return `there is no command /${name}.${near === undefined ? '' : ` Did you mean /${near}?`} ${sent}`
}
