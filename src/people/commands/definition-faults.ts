import type { SessionPlace } from '../../native/loop/instructions.ts'
import { findSubagents } from '../../native/loop/subagent-files.ts'
import { list } from '../../base/text/table.ts'
import { findFileCommands } from './command-files.ts'

/** Says what is wrong with the files that define commands and subagents, and which of their fields termaite does not use. */
export function definitionFaults(place: SessionPlace, taken: readonly string[]): string[] {
  const agents = findSubagents(place)
  const commands = findFileCommands(place, taken)
  const unused = [...commands.unused.map((one) => one.place), ...agents.unused]
  return [
    ...commands.warnings,
    ...agents.warnings,
    ...[...commands.commands, ...agents.subagents].flatMap(({ place: file, unknown }) =>
      unknown === undefined ? [] : [`${file}: termaite does not use ${unknown.join(', ')}.`],
    ),
    ...(unused.length === 0
      ? []
      : [
          `Not used, because this folder is not trusted: ${list(unused, 5)}. To trust it, run termaite trust, or type /trust in the chat.`,
        ]),
  ]
}
