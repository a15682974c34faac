import type { Io } from '../core/io.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import { textFor, UsageError } from '../core/io.ts'
import { picksTyped, unclearWords } from '../core/talk/consent.ts'
import { nobody } from '../core/talk/question.ts'
import { questionText } from './question-text.ts'

/** Asks the person for a yes. Without a terminal to ask on it throws a UsageError that names --yes. */
export async function confirm(io: Io, question: string, yes: boolean): Promise<boolean> {
  if (yes) return true
  if (!io.in.isTTY) throw new UsageError(`${question} Nobody can be asked here: add --yes to do it.`)
  const answer = await ask(io, `${question} [y/N] `)
  return /^y(es)?$/i.test(answer.trim())
}

/** Asks for one line without showing it, such as a key. */
export async function askHidden(io: Io, question: string): Promise<string> {
  const line = await ask(io, question, undefined, true)
  io.err.write('\n')
  return line
}

/** Asks the person for one line; throws a UsageError when they leave (Ctrl+D, Ctrl+C, a signal) or the question is withdrawn. */
export function ask(io: Io, question: string, withdrawn?: AbortSignal, hidden = false): Promise<string> {
  return new Promise((resolve, reject) => {
    // Loaded only when needed: most runs ask nothing.
    const { createInterface } = process.getBuiltinModule('node:readline')
    const lines = createInterface({
      input: io.in,
      ...(hidden ? { output: unseen(), terminal: io.in.isTTY === true } : { output: io.err }),
    })
    let given: string | undefined
    let code = 1
    const leave = (how: number) => {
      code = how
      lines.close()
    }
    const interrupted = () => leave(Number(io.signal.reason))
    const gone = () => leave(1)
    io.signal.addEventListener('abort', interrupted)
    withdrawn?.addEventListener('abort', gone)
    // A terminal in raw mode hands over Ctrl+C as a key, not as a signal.
    lines.on('SIGINT', () => leave(130))
    lines.on('close', () => {
      io.signal.removeEventListener('abort', interrupted)
      withdrawn?.removeEventListener('abort', gone)
      if (given !== undefined) return resolve(given)
      io.err.write('\n')
      reject(new UsageError('nothing was answered; nothing was changed.', code))
    })
    if (io.signal.aborted) return interrupted()
    // Printed only after the echo is off, because a paste may follow at once.
    const shown = textFor(io.err, question)
    if (hidden) io.err.write(shown)
    lines.question(hidden ? '' : shown, (answer) => {
      given = answer
      lines.close()
    })
  })
}

function unseen() {
  const { Writable } = process.getBuiltinModule('node:stream')
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}

/**
 * Lets the person at the terminal answer questions by number; without a terminal `absent` answers. `around` is put around
 * the person's own answers.
 */
export function personAt(io: Io, absent: Ask = nobody, around = (ask: Ask) => ask): Ask {
  const person = around((question, withdrawn) => answered(io, question, withdrawn).catch(() => undefined))
  return async (question, withdrawn) =>
    io.piped || !io.in.isTTY || withdrawn.aborted ? absent(question, withdrawn) : person(question, withdrawn)
}

/** The answer of the person at the terminal; throws a UsageError when they leave with Ctrl+C or Ctrl+D. */
export async function answered(io: Io, question: Question, withdrawn: AbortSignal): Promise<string[] | undefined> {
  const how = question.ordered ? `\n${unclearWords(question)}` : ''
  for (let words = `${await questionText(question)}${how}`; ; words = unclearWords(question)) {
    const picks = picksTyped(question, await ask(io, `${words}\n> `, withdrawn))
    if (picks !== 'unclear') return picks
  }
}
