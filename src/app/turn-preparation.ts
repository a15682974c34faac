import type { Ask } from '../core/talk/question.ts'
import type { Ref } from '../core/talk/store.ts'
import type { App } from './app.ts'
import type { CompactionWatch } from './compaction.ts'
import { keepPictures, withAttachments } from './attachments/attachments.ts'
import { compactIfFull } from './compaction.ts'
import { personServers } from './native/person-servers.ts'
import { unfinishedIn } from './unfinished-turns.ts'
import { defined } from '../base/defined.ts'
import { localTimeFrom } from '../base/local-time.ts'
import { oneLine } from '../base/table.ts'

/** The person who typed a prompt: who answers questions about it, and who is warned of what could not be attached. */
type PromptAuthor = { ask: Ask; signal: AbortSignal; warn(words: string): void; waits?(words: string): void }

/** A prompt with the contents of everything that it names. Its pictures are kept here, before the prompt that mentions them is. */
export async function attachedPrompt(
  { place, io, blobs, native, settings }: App,
  typed: string,
  { ask, signal, warn, waits }: PromptAuthor,
): Promise<{ prompt: string; files: Ref[] }> {
  const served = { servers: personServers({ native, settings }), blobs, clock: io.clock }
  const person = defined({ ask, signal, served, waits })
  const { prompt, files, pictures, warnings } = await withAttachments(typed, place.cwd, io.env.HOME, person)
  for (const warning of warnings) warn(warning)
  await keepPictures(pictures, blobs)
  return { prompt, files }
}

/** Prepares the conversation for a turn: ends turns of dead processes, names unreadable lines and other running turns, and compacts a full view. */
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
