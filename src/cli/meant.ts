import { slips } from '../base/nearest.ts'
import { commands } from './commands.ts'
import { UsageError } from '../core/io.ts'

/** A command is called with few words; what is longer is meant as it is said. */
const mostWords = 3

/** A prompt of bare words that begins like a command is more often a slip than a prompt: nothing is sent. */
export function refuseSlip(words: readonly string[]): void {
  const first = (words[0] ?? '').toLowerCase()
  if (words.length > mostWords) return
  const near = (other: string) =>
    Math.abs(first.length - other.length) <= allowed(other) && slips(first, other) <= allowed(other)
  const name = commands.map((command) => command.name).find(near)
  if (name === undefined) return
  throw new UsageError(
    first === name
      ? `the command "${name}" comes before its flags: termaite ${name} …; use -p to send it as a prompt.`
      : `there is no command "${first}"; did you mean "${name}"? Use -p to send it as a prompt.`,
  )
}

/** The shorter the name, the more words of a prompt are near it. */
function allowed(name: string): number {
  return name.length > 5 ? 2 : name.length > 2 ? 1 : 0
}
