import type { Command } from '../../core/talk/command.ts'
import { fuzzyMatch } from '@earendil-works/pi-tui'

/** The commands that answer to a few letters, best first; to no letters all do, those that matter in front. */
export function findCommands(commands: readonly Command[], typed: string): Command[] {
  const query = typed.trim().toLowerCase()
  return commands
    .map((command, at) => ({ command, at, score: scoreOf(command, query) }))
    .filter(({ score }) => score !== undefined)
    .sort((a, b) => a.score! - b.score! || a.at - b.at)
    .map(({ command }) => command)
}

/** Less is better: letters of the name in order, best where they begin it, then words of the help. */
function scoreOf({ name, help, matters }: Command, query: string): number | undefined {
  const weight = matters ? 0 : 0.5
  if (query === '') return weight
  const { matches, score } = fuzzyMatch(query, name)
  if (matches) return score + weight
  return speaks(help, query) ? byHelp + weight : undefined
}

/** Beyond any score of a name. */
const byHelp = 10_000

/** Whether each word of it begins one of the help; a single letter begins too many. */
function speaks(help: string, query: string): boolean {
  const all = help.toLowerCase().split(/\W+/)
  return query.length > 1 && query.split(/\s+/).every((word) => all.some((other) => other.startsWith(word)))
}

/** A command as it is listed: its name and what may follow it. */
export function commandUsage({ name, words }: Command): string {
  return words ? `/${name} ${words}` : `/${name}`
}
