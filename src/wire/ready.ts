import type { App } from './app.ts'
import { compactIfFull } from './compaction.ts'
import { say } from './io.ts'
import { oneLine } from './table.ts'

/** Settles what a dead process left, says what could not be read and who else is at work, and makes room. */
export async function ready(app: App, exclusive: boolean): Promise<void> {
  const { conversation, io } = app
  let { view, running, broken } = await conversation.settle()
  if (broken.length > 0)
    say(
      io,
      `termaite: ${broken.length} ${broken.length === 1 ? 'line' : 'lines'} of this conversation could not be read and ${broken.length === 1 ? 'was' : 'were'} skipped; the rest is there.`,
    )
  for (const other of running)
    say(io, `Another turn is at work in this project since ${clockTime(other.at)}: ${oneLine(other.text, 60)}`)
  if (exclusive && running.length > 0) {
    say(io, 'Waiting for it.')
    while (!io.signal.aborted && (await conversation.running()).length > 0) await io.clock.sleep(500, io.signal)
    view = await conversation.view()
  }
  const words = await compactIfFull(app, view)
  if (words) say(io, words)
}

function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 5)
}
