import type { App } from './app.ts'
import type { CompactionWatch } from './compaction.ts'
import { compactIfFull } from './compaction.ts'
import { unfinishedIn } from './unfinished-turns.ts'
import { localTimeFrom } from '../base/time/local-time.ts'
import { oneLine } from '../base/text/table.ts'

/**
 * Prepares the conversation for a turn: ends turns of dead processes, reports unreadable lines and other running turns, and compacts a
 * full view.
 */
export async function prepareTurn(app: App, watch: CompactionWatch): Promise<void> {
  const { say } = watch
  const { conversation, project, io } = app
  const [{ view, broken }, others] = await Promise.all([conversation.settle(), unfinishedIn(project, io.clock.now())])
  if (broken.length > 0) say(`termaite: ${unreadableLines(broken.length)}`)
  for (const { since, prompt, pid } of others)
    say(
      `Another turn has been running in this project since ${localTimeFrom(io.clock.now(), since)}${pid === undefined ? ', on another machine, where its end cannot be seen' : ''}: ${oneLine(prompt, 60)}`,
    )
  await compactIfFull(app, view, watch)
}

export function unreadableLines(lines: number): string {
  return `${lines} ${lines === 1 ? 'line' : 'lines'} of this conversation could not be read and ${lines === 1 ? 'was' : 'were'} skipped; the rest is there.`
}
