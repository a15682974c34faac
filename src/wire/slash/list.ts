import type { Command } from '../../core/talk/command.ts'
import { table } from '../table.ts'

/** The commands as lines, those that matter first: the palette of a screen that has none. */
export function commandList(commands: readonly Command[], query = ''): string {
  const wanted = query.trim().toLowerCase()
  const found = commands.filter(({ name, help }) => `${name} ${help}`.toLowerCase().includes(wanted))
  const [first, others] = [found.filter(({ matters }) => matters), found.filter(({ matters }) => !matters)]
  if (found.length === 0) return `No command has "${query.trim()}" in it; /help lists them all.`
  return table([...first, ...others].map(({ name, words, help }) => [`/${name}${words ? ` ${words}` : ''}`, help]))
}
