import type { DefinitionFile } from '../../native/loop/definition-files.ts'
import type { SessionPlace } from '../../native/loop/instructions.ts'
import type { CommandFormat } from './command-text.ts'
import { defined } from '../../base/defined.ts'
import { oneLine } from '../../base/text/table.ts'
import {
  fieldLine,
  fieldNames,
  findDefinitions,
  firstOfEachName,
  unknownFields,
  writtenField,
} from '../../native/loop/definition-files.ts'
import { argumentNames, formatOf } from './command-text.ts'

/**
 * A slash command that a Markdown file of the person or of the project defines. The text of the file is the prompt; `tools` are
 * the calls that the command is made for.
 */
export type FileCommand = {
  name: string
  description: string
  /** The arguments, as the file describes them for a person. */
  hint?: string
  tools?: string[]
  model?: string
  body: string
  /** How the text marks the places for its arguments; `numbered` if omitted. */
  format?: CommandFormat
  /** The names of the arguments, in their order. */
  names?: string[]
  /** The file as a person reads it. */
  place: string
  from: DefinitionFile['from']
  /** Fields of the file that termaite does not use. */
  unknown?: string[]
}

/** `unused`: the commands of a project that is not trusted, whose files are not read. */
export type FileCommands = {
  commands: FileCommand[]
  warnings: string[]
  unused: { name: string; place: string }[]
}

/** Fields that are used, and fields without a meaning here, such as OpenCode's agents and subtasks. */
const known = ['description', 'argument-hint', 'arguments', 'allowed-tools', 'model', 'name', 'agent', 'subtask']

/**
 * Finds the commands of a trusted project and the person's own commands. A command never replaces one of termaite's (`taken`): then its
 * name gets a prefix for its folder, such as /project:undo.
 */
export function findFileCommands(place: SessionPlace, taken: readonly string[] = []): FileCommands {
  const { files, warnings, unused } = findDefinitions('commands', place)
  const untaken = <T extends { name: string }>(one: T, from: DefinitionFile['from']): T =>
    taken.includes(one.name) ? { ...one, name: `${from}:${one.name}` } : one
  const all = files.map((file) => {
    const command = untaken(commandIn(file), file.from)
    if (command.name !== file.name)
      warnings.push(`${file.place} is /${command.name}, because /${file.name} is a command of termaite.`)
    return command
  })
  return {
    commands: firstOfEachName(all, warnings),
    warnings,
    unused: firstOfEachName(
      unused.map((one) => untaken(one, 'project')),
      [],
    ),
  }
}

function commandIn(file: DefinitionFile): FileCommand {
  const { name, place, from, body } = file
  const tools = fieldNames(file, 'allowed-tools')
  const model = fieldLine(file, 'model')
  const unknown = unknownFields(file, known)
  const format = formatOf(file)
  const names = argumentNames(file)
  return defined({
    name,
    description: oneLine(fieldLine(file, 'description') || fieldLine({ fields: { body } }, 'body'), 200),
    hint: oneLine(writtenField(file, 'argument-hint'), 60) || undefined,
    tools: tools.length > 0 ? tools : undefined,
    model: model === '' || model === 'inherit' ? undefined : model,
    body,
    format: format === 'numbered' ? undefined : format,
    names: names.length > 0 ? names : undefined,
    place,
    from,
    unknown: unknown.length > 0 ? unknown : undefined,
  })
}
