import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../hold.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../base/files.ts'
import { messageOf } from '../../base/error-message.ts'
import { oneLine } from '../../base/table.ts'
import { filled, template } from './template.ts'

export type UserCommands = { commands: Command[]; warnings: string[] }

const ending = '.md'

/** The person's own commands: each file is a prompt that is sent with what follows its name. */
export function userCommands(hold: Hold, taken: readonly string[]): UserCommands {
  const folder = join(hold.app().place.home, 'commands')
  const found: UserCommands = { commands: [], warnings: [] }
  try {
    for (const file of readdirSync(folder).sort()) {
      if (!file.endsWith(ending)) continue
      const path = join(folder, file)
      const command = commandIn(hold, path, file.slice(0, -ending.length), taken)
      if (typeof command === 'string') found.warnings.push(`${path} is not used: ${command}.`)
      else found.commands.push(command)
    }
  } catch (error) {
    if (!isMissing(error)) found.warnings.push(`${folder} cannot be read: ${messageOf(error)}.`)
  }
  return found
}

/** The command in a file, or why there is none. */
function commandIn(hold: Hold, path: string, name: string, taken: readonly string[]): Command | string {
  if (!/^[\w-]+$/.test(name)) return 'a name has letters, digits, "-" and "_" only'
  if (taken.includes(name)) return `/${name} is a command of termaite`
  try {
    const { description, hint, body } = template(readFileSync(path, 'utf8'))
    return {
      name,
      ...(hint === undefined ? {} : { words: hint }),
      help: oneLine(description ?? body, 80),
      // Read again, so that a change counts from the next use on.
      run: async (args) => hold.send(filled(template(readFileSync(path, 'utf8')).body, args)),
    }
  } catch (error) {
    return messageOf(error)
  }
}
