import type { Terminal } from '../core/screen/terminal.ts'
import type { Entry, EntryOf } from '../core/talk/entry.ts'
import type { Outcome } from '../core/talk/outcome.ts'
import type { Flight } from './slot.ts'

/**
 * Inspects a turn that another process left unfinished: returns its outcome if it is over, otherwise the mark of its prompt if that was
 * sent. A prompt is only sent again if it was certainly not sent before. `outlives`: whether terminals stay open when their process
 * exits.
 */
export async function interruptedTurn(
  { turn, mark, taken }: Flight,
  entries: readonly Entry[],
  terminal: Terminal | undefined,
  outlives: boolean,
): Promise<{ over: Outcome } | { sent: string | undefined }> {
  const over = outcomeOf(turn, entries)
  if (over) return { over }
  const prompt = entries.find((entry) => entry.type === 'prompt' && entry.turn === turn)
  // An agent whose terminal is closed has exited, and cannot get a prompt any more.
  if (!prompt && !terminal)
    return {
      over: crashOutcome('termaite stopped before it had saved the prompt of this turn, and its terminal was closed'),
    }
  if (!prompt)
    return { over: crashOutcome('termaite stopped before it had saved the prompt of this turn: send the prompt again') }
  if (!terminal && taken)
    return { over: crashOutcome(`its terminal was closed before its answer could be read${outlives ? '' : builtIn}`) }
  const { text } = prompt as EntryOf<'prompt'>
  return { sent: taken || (terminal && (await hasPrompt(terminal, mark, text))) ? mark : undefined }
}

const builtIn = '; a built-in terminal ends with the process that runs the crew, and a tmux window does not'

const crashOutcome = (message: string): Outcome => ({ ok: false, failure: { kind: 'crash', message } })

/** Reads the outcome of a turn from its entries; undefined while it runs. */
export function outcomeOf(turn: string, entries: readonly Entry[]): Outcome | undefined {
  const own = entries.filter((entry) => entry.turn === turn)
  const end = own.find((entry) => entry.type === 'end')
  if (!end) return undefined
  const reply = own.findLast((entry) => entry.type === 'reply')
  // If the text of an `end` only repeats the reply, it is stored without the text.
  if (!end.outcome.ok || end.outcome.text !== '' || !reply) return end.outcome
  return { ...end.outcome, text: reply.text, whole: reply.whole }
}

/** How many rows back a prompt is searched for. */
const historyRows = 2_000

/** The shortest longest line of a prompt that can identify it on a screen. */
const tellingLength = 60

/**
 * Whether a prompt was pasted. The terminal's note of the last prompt decides, because a busy program may not have drawn it yet and an
 * earlier prompt may have had the same text; without such a note, the content of the terminal decides.
 */
async function hasPrompt(terminal: Terminal, mark: string, prompt: string): Promise<boolean> {
  const last = await terminal.lastMark?.()
  return last === undefined ? showsPrompt(terminal, mark, prompt) : last === mark
}

/**
 * Whether a terminal shows a prompt or has shown it: found by its mark, or by its text if it has no mark. Rows are compared without
 * spaces, because a screen wraps and indents them.
 */
async function showsPrompt(terminal: Terminal, mark: string, prompt: string): Promise<boolean> {
  const shown = withoutSpaces((await terminal.history(historyRows)).join(''))
  const lines = prompt.split('\n').map(withoutSpaces)
  const longest = lines.reduce((one, other) => (other.length > one.length ? other : one), '')
  return shown.includes(mark) || (longest !== '' && shown.includes(longest.slice(0, tellingLength)))
}

const withoutSpaces = (text: string) => text.replaceAll(/\s+/g, '')
