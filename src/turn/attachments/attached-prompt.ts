import type { Ask } from '../../core/talk/question.ts'
import type { Ref } from '../../core/talk/store.ts'
import type { App } from '../app.ts'
import { defined } from '../../base/defined.ts'
import { personServers } from '../../native/person-servers.ts'
import { keepPictures, withAttachments } from './attachments.ts'

/**
 * Callbacks to the person who typed a prompt: one asks questions about the prompt, the other warns about things that could not be
 * attached.
 */
type PromptAuthor = { ask: Ask; signal: AbortSignal; warn(words: string): void; waits?(words: string): void }

/** Returns a prompt with the contents of everything that it names. Stores its pictures before the prompt that mentions them is stored. */
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
