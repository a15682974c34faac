import type { Terminal } from '../core/screen/terminal.ts'
import type { Entry, EntryOf } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Flight } from './slot.ts'
import { outcomeIn } from './kept.ts'
import { showsPrompt } from './mark.ts'

/** How a turn that another process left has ended, or else the mark of its prompt if that was sent: only what was surely not sent is sent. */
export async function leftTurn(
  { turn, mark, taken }: Flight,
  entries: readonly Entry[],
  terminal: Terminal | undefined,
): Promise<{ over: Outcome } | { sent: string | undefined }> {
  const over = outcomeIn(entries, turn)
  if (over) return { over }
  const prompt = entries.find((entry) => entry.type === 'prompt' && entry.turn === turn)
  if (!prompt) return { over: lost('what was said in this turn is lost') }
  if (!terminal && taken) return { over: lost('its terminal is gone, and its answer with it') }
  const { text } = prompt as EntryOf<'prompt'>
  return { sent: taken || (terminal && (await showsPrompt(terminal, mark, text))) ? mark : undefined }
}

const lost = (message: string): Outcome => ({ ok: false, failure: { kind: 'crash', message } })
