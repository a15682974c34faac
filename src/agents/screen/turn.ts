import type { Event } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../pipe/speech.ts'
import type { Answered } from './answer.ts'
import type { State } from './ready.ts'
import type { Run } from './running.ts'
import type { Sitting } from './sitting.ts'
import type { ScreenParts, ScreenSpec } from './spec.ts'
import { wordsOf } from '../../base/words.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { Watch } from '../pipe/watch.ts'
import { runOnce } from './running.ts'
import { hindrance } from './spec.ts'
import { stopWork } from './stopping.ts'

export type Desk = {
  spec: ScreenSpec
  parts: ScreenParts
  sitting: Sitting
  /** Aborts when the terminal is let go or ended: then nothing is typed into it to stop the work. */
  gone: AbortSignal
}

/** One turn, and the facts of its end. */
export async function takeTurn(
  { spec, parts, sitting, gone }: Desk,
  turn: Turn,
  resume: string | undefined,
  emit: Emit,
): Promise<void> {
  const end = (outcome: Outcome) => emit({ type: 'end', outcome })
  if (turn.signal.aborted) return end(failed('aborted', `${spec.name} was cancelled before it started`))
  const failure = hindrance(spec, turn.leash)
  if (failure) return end({ ok: false, failure })
  const over = new AbortController()
  let cause: Failure | undefined
  const stop = (failure: Failure) => {
    // The first cause wins: what follows from being stopped is not why it was.
    cause ??= failure
    over.abort()
  }
  const cancel = () => stop({ kind: 'aborted', message: `${spec.name} was cancelled` })
  const watched = AbortSignal.any([turn.signal, gone])
  watched.addEventListener('abort', cancel, { once: true })
  const watch = new Watch(spec.name, spec, turn)
  watch.begin(over.signal, (since) => alive(sitting, parts, turn, since), stop)
  const state = stating(emit)
  const told = threading(emit)
  const waiting = { spec, clock: turn.clock, ask: watch.ask, signal: over.signal, heard: () => watch.heard(), state }
  let run: Run = {}
  try {
    const thread = async () => (sitting.key === undefined ? undefined : told(sitting.key))
    run = await runOnce({ spec, parts, sitting, turn, resume, emit, thread, waiting })
  } catch (error) {
    stop({ kind: 'crash', message: `${spec.name} could not be watched to its end: ${wordsOf(error)}` })
  }
  over.abort()
  watched.removeEventListener('abort', cancel)
  if (run.end && !('kind' in run.end)) return answered(run.end)
  if (cause && run.entered !== undefined && !gone.aborted)
    await stopWork(sitting, run.entered, spec.name).catch(() => {})
  return end({ ok: false, failure: run.end ?? cause ?? { kind: 'aborted', message: `${spec.name} was left` } })

  async function answered({ text, fenced, whole, by }: Answered): Promise<void> {
    await state('idle')
    if (!whole) await emit({ type: 'note', text: `the beginning of what ${spec.name} said had scrolled out of sight` })
    await told(sitting.thread)
    await emit({ type: 'reply', text })
    await emit(usageOf(run, text))
    await end({ ok: true, text, seen: { fenced, by } })
  }
}

/** Each state once, until another comes. */
function stating(emit: Emit): (state: State) => Promise<void> {
  let last: State | undefined
  return async (state) => {
    if (state !== last) await emit({ type: 'state', state })
    last = state
  }
}

/** Each key once, until another comes. */
function threading(emit: Emit): (key: string) => Promise<void> {
  let last: string | undefined
  return async (key) => {
    if (key !== last) await emit({ type: 'thread', key: (last = key) })
  }
}

/** Work that draws nothing: a tool of a program whose screen does not tell, or a file that changed. */
async function alive({ terminal, facts }: Sitting, parts: ScreenParts, { cwd }: Turn, since: number): Promise<boolean> {
  const below = facts.reader.busy || !terminal ? 0 : await terminal.children().catch(() => 0)
  return below > 0 || ((await parts.changed?.(cwd, since).catch(() => false)) ?? false)
}

function usageOf({ prompt = '', journal }: Run, answer: string): Event {
  if (journal?.usage) return { type: 'usage', ...journal.usage, source: 'reported' }
  return { type: 'usage', input: estimateTokens(prompt), output: estimateTokens(answer), source: 'estimated' }
}
