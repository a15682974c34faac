import type { Io } from '../../core/io.ts'
import type { Seen } from '../../app/supervision/current-terminal.ts'
import { attach, setRawMode } from '../../faces/attach/attach-terminal.ts'
import { SupervisedKeys } from '../../faces/attach/attach-keys.ts'
import { ask } from '../../faces/terminal-questions.ts'
import { say, UsageError } from '../../core/io.ts'

/** What a person wants after Ctrl+C: `interrupted` is a second one. */
export type Wish = 'exit' | 'interrupted'

export type Attending = {
  seen: Seen
  /** Whether the CLI's screen is shown here; else it is seen elsewhere. */
  shows: boolean
  /** Aborts when there is nobody to attend to any more. */
  over: AbortSignal
  /** Before the person is asked. */
  save(): Promise<void>
  /** Whether the CLI has the screen now: nobody else writes on it then. */
  showing(so: boolean): void
}

const hint = 'Ctrl+C: exit or continue · Ctrl+] sends a Ctrl+C · the title of this window tells how it goes'

/** The person's keyboard and screen are the CLI's until it is over; Ctrl+C is ours. Undefined when it is over by itself. */
export async function attend(io: Io, { seen, shows, over, save, showing }: Attending): Promise<Wish | undefined> {
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
    const wish = await asked(io, over)
    if (wish) return wish
  }
  return undefined
}

async function visit(io: Io, seen: Seen, over: AbortSignal): Promise<'held' | 'gone'> {
  const manner = { keys: new SupervisedKeys(), hint, untitled: true as const }
  const left = await attach(seen.now!, { in: io.in, out: io.out, clock: io.clock, signal: over }, manner)
  return left === 'detached' ? 'held' : 'gone'
}

/** While there is no screen to show, Ctrl+C is heard all the same. */
async function waitedHere(io: Io, seen: Seen, now: Seen['now'], over: AbortSignal): Promise<'held' | 'other'> {
  const input: Io['in'] & { setRawMode?(raw: boolean): unknown } = io.in
  const held = new AbortController()
  const keys = new SupervisedKeys()
  const type = (chunk: Buffer) => {
    if (keys.push(chunk.toString()).leaves) held.abort()
  }
  setRawMode(input, true)
  input.on('data', type).resume()
  await seen.other(now, AbortSignal.any([over, held.signal]))
  input.off('data', type).pause()
  setRawMode(input, false)
  return held.signal.aborted ? 'held' : 'other'
}

async function asked(io: Io, over: AbortSignal): Promise<Wish | undefined> {
  try {
    const answer = await ask(io, 'Its state is saved. Exit or continue? [e/c] ', over)
    return /^\s*e/i.test(answer) ? 'exit' : undefined
  } catch (error) {
    if (over.aborted) return undefined
    if (!(error instanceof UsageError)) throw error
    say(io, '')
    return error.code === 130 ? 'interrupted' : 'exit'
  }
}
