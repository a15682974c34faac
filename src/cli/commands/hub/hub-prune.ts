import type { Io } from '../../../core/io.ts'
import type { Prunable } from '../../../hub/model/tasks/removed-tasks.ts'
import type { Parsed } from '../../arguments/cli-command.ts'
import { sizeWords } from '../../../base/text/size-words.ts'
import { print, say, UsageError } from '../../../core/io.ts'
import { ageWords } from '../../../hub/model/tasks/removed-tasks.ts'
import { placeOf } from '../../../home/place.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { withKeys } from '../../../hub/server/key-desk.ts'
import { retentionTime } from '../../../hub/server/retention-time.ts'
import { confirm } from '../../../questions/terminal-questions.ts'
import { readSettings } from '../../../settings/settings.ts'
import { durationOf } from '../../arguments/args.ts'

/** Lists the finished tasks that are older than a given age, and then removes them. */
export async function prune(io: Io, values: Parsed['values'], words: readonly string[]): Promise<number> {
  if (words.length > 0) throw new UsageError(`hub prune takes no words, but found "${words.join(' ')}".`)
  const server = typeof values.server === 'string' ? values.server : undefined
  const keptMs = await ageOf(io, values)
  const json = values.json === true
  return withKeys(
    io,
    async (desk) => {
      const found = await desk.prunable(keptMs)
      const count = countOf(found)
      if (values['dry-run'] === true || count === 0) {
        if (json) print(io, JSON.stringify(found))
        else print(io, count === 0 ? noneWords(keptMs) : `This would remove ${prunableWords(found, keptMs)}.`)
        return 0
      }
      const question = `Remove ${prunableWords(found, keptMs)}? They cannot be brought back.`
      if (!(await confirm(io, question, values.yes === true))) {
        say(io, 'Nothing was removed.')
        return 1
      }
      const sum = { tasks: 0, pipelines: 0 }
      for (let more = true; more && !io.signal.aborted;) {
        const part = await desk.prune(keptMs)
        sum.tasks += part.tasks
        sum.pipelines += part.pipelines
        more = part.more
        if (more && io.err.isTTY) say(io, `Removed ${groupDigits(sum.tasks)} tasks so far …`)
      }
      if (json) print(io, JSON.stringify(sum))
      else say(io, `Removed ${countWords(sum.tasks, 'task')}. Long texts that no other task names follow within a day.`)
      return 0
    },
    server,
  )
}

async function ageOf(io: Io, values: Parsed['values']): Promise<number> {
  const typed = values['older-than']
  if (typeof typed === 'string') return durationOf('older-than', typed)
  const { hub } = await readSettings({ home: placeOf(io).home }, { env: io.env })
  const kept = retentionTime('hub.keepFinished', hub.keepFinished)
  if (kept === undefined)
    throw new UsageError(
      'hub prune: the age of the tasks is missing. Name it with --older-than, as in: termaite hub prune --older-than 90d',
    )
  return kept
}

const countOf = ({ tasks }: Prunable) => tasks.reduce((sum, { count }) => sum + count, 0)

const noneWords = (keptMs: number) =>
  `There is no finished task that nobody has touched for ${ageWords(keptMs)} and that nothing needs.`

const countWords = (count: number, noun: string) => `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`

/**
 * Describes the tasks to delete: "3 finished tasks (2 COMPLETED, 1 FAILED) that nobody has touched for 30 days, with 1 pipeline, 4 notes
 * and 2 long texts, 1.2 MB in all".
 */
function prunableWords(found: Prunable, keptMs: number): string {
  const states = found.tasks.map(({ state, count }) => `${groupDigits(count)} ${state}`).join(', ')
  const age = keptMs === 0 ? '' : ` that nobody has touched for ${ageWords(keptMs)}`
  const rest = [
    countWords(found.pipelines, 'pipeline'),
    countWords(found.notes, 'note'),
    countWords(found.texts, 'long text'),
  ].filter((words) => !words.startsWith('0 '))
  const extras = rest.length === 0 ? '' : `, with ${rest.join(', ').replace(/, (?=[^,]*$)/, ' and ')}`
  return `${countWords(countOf(found), 'finished task')} (${states})${age}${extras}, ${sizeWords(found.bytes)} in all`
}
