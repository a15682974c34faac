import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../base/files.ts'
import { messageOf } from '../../base/error-message.ts'
import { oneLine } from '../../base/table.ts'
import { headAndBody } from '../../base/frontmatter.ts'

export type UserCommands = { commands: Command[]; warnings: string[] }

const ending = '.md'

/** The user's own commands: each file is a prompt, sent with the arguments that were typed. */
export function userCommands(controls: DeskControls, taken: readonly string[]): UserCommands {
  const folder = join(controls.app().place.home, 'commands')
  const found: UserCommands = { commands: [], warnings: [] }
  try {
    for (const file of readdirSync(folder).sort()) {
      if (!file.endsWith(ending)) continue
      const path = join(folder, file)
      const command = commandIn(controls, path, file.slice(0, -ending.length), taken)
      if (typeof command === 'string') found.warnings.push(`${path} is not used: ${command}.`)
      else found.commands.push(command)
    }
  } catch (error) {
    if (!isMissing(error)) found.warnings.push(`${folder} cannot be read: ${messageOf(error)}.`)
  }
  return found
}

/** Reads the command in a file, or says why it cannot be used. */
function commandIn(controls: DeskControls, path: string, name: string, taken: readonly string[]): Command | string {
  if (!/^[\w-]+$/.test(name)) return 'a name has letters, digits, "-" and "_" only'
  if (taken.includes(name)) return `/${name} is a command of termaite`
  try {
    const { description, hint, body } = template(readFileSync(path, 'utf8'))
    return {
      name,
      ...(hint === undefined ? {} : { words: hint }),
      help: oneLine(description ?? body, 300),
      // The file is read again at each use, so that edits count at once.
      run: async (args) => controls.send(filled(template(readFileSync(path, 'utf8')).body, args)),
    }
  } catch (error) {
    return messageOf(error)
  }
}

/** A prompt template with its frontmatter. */
export type Template = { description?: string; hint?: string; body: string }

/** Throws an error that says what is wrong with the file. */
export function template(text: string): Template {
  const cut = headAndBody(text)
  if (!cut) throw new Error('its frontmatter has no end')
  const { head, body } = cut
  if (body === '') throw new Error('there is no prompt in it')
  const [description, hint] = [field(head, 'description'), field(head, 'argument-hint')]
  return { ...(description ? { description } : {}), ...(hint ? { hint } : {}), body }
}

/** Takes the hint as it is written: YAML would read `[file] [words]` as a list. */
function field(head: string, name: string): string | undefined {
  const line = head.split(/\r?\n/).find((one) => one.startsWith(`${name}:`))
  return line
    ?.slice(name.length + 1)
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
}

const word = /"([^"]*)"|'([^']*)'|(\S+)/g
const place = /\$(?:(ARGUMENTS)\b|([1-9])(?!\d))/g

/** Fills the arguments into the template's places; without any place they follow the prompt. */
export function filled(body: string, typed: string): string {
  const args = typed.trim()
  const words = [...args.matchAll(word)].map(([, double, single, bare]) => double ?? single ?? bare!)
  if (body.search(place) < 0) return args === '' ? body : `${body}\n\n${args}`
  return body.replaceAll(place, (_whole, all, number) => (all ? args : (words[Number(number) - 1] ?? '')))
}
