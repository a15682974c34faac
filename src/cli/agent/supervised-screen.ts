import type { Io } from '../../core/io.ts'
import type { CurrentTerminal } from '../../supervise/agent/current-terminal.ts'
import { attach, setRawMode } from '../../wire/attach/attach-terminal.ts'
import { SupervisedKeys } from '../../wire/attach/attach-keys.ts'
import { ask } from '../../questions/terminal-questions.ts'
import { say, UsageError } from '../../core/io.ts'
import { exit } from '../../core/exit-codes.ts'

/** The user's choice after Ctrl+C; a second Ctrl+C means `interrupted`. */
type LeaveChoice = 'exit' | 'interrupted'

type SupervisedScreen = {
  seen: CurrentTerminal
  /** Whether the CLI's screen is shown here; with tmux it is shown there. */
  shows: boolean
  /** Aborts when supervision ends. */
  over: AbortSignal
  /** Saves the session before the user is asked. */
  save(): Promise<void>
  /** Called when the CLI takes or returns the screen; while it has the screen, no other code may write there. */
  showing(so: boolean): void
}

const hint = 'Ctrl+C asks whether to exit · Ctrl+] sends a Ctrl+C · status is in the window’s title'

/** Gives keyboard and screen to the CLI until supervision ends. Only Ctrl+C is intercepted: it asks whether to exit. */
export async function attend(
  io: Io,
  { seen, shows, over, save, showing }: SupervisedScreen,
): Promise<LeaveChoice | undefined> {
  let last = shows ? undefined : seen.now
  while (!over.aborted) {
    const terminal = seen.now
    const shown = shows && terminal !== undefined && terminal !== last
    showing(shown)
    const left = shown ? await visit(io, seen, over) : await waitedHere(io, seen, terminal, over)
    showing(false)
    if (left === 'gone') last = terminal
    if (left !== 'held' || over.aborted) continue
    await save()
    const wish = await askToLeave(io, over)
    if (wish) return wish
  }
  return undefined
}

async function visit(io: Io, seen: CurrentTerminal, over: AbortSignal): Promise<'held' | 'gone'> {
  const manner = { keys: new SupervisedKeys(), hint, untitled: true as const }
  const left = await attach(seen.now!, { in: io.in, out: io.out, clock: io.clock, signal: over }, manner)
  return left === 'detached' ? 'held' : 'gone'
}

/** Waits for Ctrl+C while there is no screen to show. */
async function waitedHere(
  io: Io,
  seen: CurrentTerminal,
  now: CurrentTerminal['now'],
  over: AbortSignal,
): Promise<'held' | 'other'> {
  const input: Io['in'] & { setRawMode?(raw: boolean): unknown } = io.in
  const held = new AbortController()
  const keys = new SupervisedKeys()
  const type = (chunk: Buffer) => {
    if (keys.push(chunk.toString()).leaves) held.abort()
  }
  setRawMode(input, true)
  input.on('data', type).resume()
  await seen.changed(now, AbortSignal.any([over, held.signal]))
  input.off('data', type).pause()
  setRawMode(input, false)
  return held.signal.aborted ? 'held' : 'other'
}

async function askToLeave(io: Io, over: AbortSignal): Promise<LeaveChoice | undefined> {
  try {
    const answer = await ask(io, 'The session is saved. Exit or continue? [e/c] ', over)
    return /^\s*e/i.test(answer) ? 'exit' : undefined
  } catch (error) {
    if (over.aborted) return undefined
    if (!(error instanceof UsageError)) throw error
    say(io, '')
    return error.code === exit.interrupted ? 'interrupted' : 'exit'
  }
}
