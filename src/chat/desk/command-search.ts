import type { Command } from '../../core/talk/command.ts'
import { fuzzyMatch } from '@earendil-works/pi-tui'

/** The commands that match a few letters, best first; without letters all of them, the important ones first. */
export function findCommands(commands: readonly Command[], typed: string): Command[] {
  const query = typed.trim().toLowerCase()
  return commands
    .flatMap((command, at) => {
      const score = scoreOf(command, query)
      return score === undefined ? [] : [{ command, at, score }]
    })
    .sort((a, b) => a.score - b.score || a.at - b.at)
    .map(({ command }) => command)
}

/** A lower score is better: first names with these letters in order, best at the beginning, then words of the help. */
function scoreOf({ name, help, matters }: Command, query: string): number | undefined {
  const weight = matters ? 0 : 0.5
  if (query === '') return weight
  const { matches, score } = fuzzyMatch(query, name)
  if (matches) return score + weight
  return matchesHelp(help, query) ? byHelp + weight : undefined
}

/** Above every score of a name. */
const byHelp = 10_000

/** Whether each word of the query begins a word of the help; a single letter would begin too many. */
function matchesHelp(help: string, query: string): boolean {
  const all = help.toLowerCase().split(/\W+/)
  return query.length > 1 && query.split(/\s+/).every((word) => all.some((other) => other.startsWith(word)))
}

/** A command as it is listed: its name and the words that may follow. */
export function commandUsage({ name, words }: Command): string {
  return words ? `/${name} ${words}` : `/${name}`
}
