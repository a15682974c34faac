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

/** The person's own commands: each file is a prompt that is sent with what follows its name. */
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

/** The command in a file, or why there is none. */
function commandIn(controls: DeskControls, path: string, name: string, taken: readonly string[]): Command | string {
  if (!/^[\w-]+$/.test(name)) return 'a name has letters, digits, "-" and "_" only'
  if (taken.includes(name)) return `/${name} is a command of termaite`
  try {
    const { description, hint, body } = template(readFileSync(path, 'utf8'))
    return {
      name,
      ...(hint === undefined ? {} : { words: hint }),
      help: oneLine(description ?? body, 80),
      // Read again, so that a change counts from the next use on.
      run: async (args) => controls.send(filled(template(readFileSync(path, 'utf8')).body, args)),
    }
  } catch (error) {
    return messageOf(error)
  }
}

/** A prompt in a file, and what its frontmatter says of it. */
export type Template = { description?: string; hint?: string; body: string }

/** Throws words that say what is wrong with it. */
export function template(text: string): Template {
  const cut = headAndBody(text)
  if (!cut) throw new Error('its frontmatter has no end')
  const { head, body } = cut
  if (body === '') throw new Error('there is no prompt in it')
  const [description, hint] = [field(head, 'description'), field(head, 'argument-hint')]
  return { ...(description ? { description } : {}), ...(hint ? { hint } : {}), body }
}

/** As it is written: the usual hint, [file] [words], is no list. */
function field(head: string, name: string): string | undefined {
  const line = head.split(/\r?\n/).find((one) => one.startsWith(`${name}:`))
  return line
    ?.slice(name.length + 1)
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
}

const word = /"([^"]*)"|'([^']*)'|(\S+)/g
const place = /\$(?:(ARGUMENTS)\b|([1-9])(?!\d))/g

/** The prompt with what was typed in its places; where it has none, what was typed follows it. */
export function filled(body: string, typed: string): string {
  const args = typed.trim()
  const words = [...args.matchAll(word)].map(([, double, single, bare]) => double ?? single ?? bare!)
  if (body.search(place) < 0) return args === '' ? body : `${body}\n\n${args}`
  return body.replaceAll(place, (_whole, all, number) => (all ? args : (words[Number(number) - 1] ?? '')))
}
