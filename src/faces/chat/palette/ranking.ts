import type { Command } from '../../../core/talk/command.ts'
import { fuzzyMatch } from '@earendil-works/pi-tui'

/** The commands that answer to a few letters, best first; to no letters all do, those that matter in front. */
export function ranked(commands: readonly Command[], typed: string): Command[] {
  const query = typed.trim().toLowerCase()
  return commands
    .map((command, at) => ({ command, at, score: scoreOf(command, query) }))
    .filter(({ score }) => score !== undefined)
    .sort((a, b) => a.score! - b.score! || a.at - b.at)
    .map(({ command }) => command)
}

/** Less is better: the name as it was begun, then its letters in order, then a word of the help. */
function scoreOf({ name, help, matters }: Command, query: string): number | undefined {
  const weight = matters ? 0 : 1
  if (query === '') return weight
  const lower = name.toLowerCase()
  if (lower === query) return -1000
  if (lower.startsWith(query)) return -500 + weight
  const { matches, score } = fuzzyMatch(query, lower)
  // The library's score is below some hundreds either way: the three kinds of match never mix.
  if (matches) return Math.max(-300, Math.min(300, score)) + weight / 2
  return speaks(help, query) ? 1000 + weight : undefined
}

/** Whether each word of it begins one of the help; a single letter begins too many. */
function speaks(help: string, query: string): boolean {
  const all = help.toLowerCase().split(/\W+/)
  return query.length > 1 && query.split(/\s+/).every((word) => all.some((other) => other.startsWith(word)))
}

/** A command as it is listed: its name and what may follow it. */
export function called({ name, words }: Command): string {
  return words ? `/${name} ${words}` : `/${name}`
}
