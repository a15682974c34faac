import type { Event } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../seat.ts'
import type { ScreenAnswer, PastedPrompt } from './screen-answer.ts'
import type { State, TerminalProgram, ReadyWait } from './terminal-program.ts'
import type { ScreenParts, ScreenSpec } from './screen-spec.ts'
import type { Journalled, ScreenFacts } from '../../core/work/profile.ts'
import type { Sight, TurnMarks } from './screen-watcher.ts'
import type { PreparedPrompt } from './prompt-delivery.ts'
import type { Clock } from '../../base/clock.ts'
import type { Key } from '../../core/screen/terminal.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { TurnWatch } from '../turn-watch.ts'
import { screenStartFailure } from './screen-spec.ts'
import { fenceMarks, nonceOf } from '../../core/screen/fence.ts'
import { resumedThread } from '../pipe/pipe-command.ts'
import { TurnFollower } from './turn-follower.ts'
import { JournalReader } from './journal-reader.ts'
import {
  preparePrompt,
  promptFor,
  emptyComposer,
  resumeDelivery,
  deliverPrompt,
  awaitsPrompt,
} from './prompt-delivery.ts'
import { readyProgram } from './terminal-program.ts'
import { screenBefore, rowsSince } from './screen-answer.ts'
import { dialogOn, keyGapMs } from './screen-dialogs.ts'

export type ScreenTurnParts = {
  spec: ScreenSpec
  parts: ScreenParts
  sitting: TerminalProgram
  /** Aborts when the terminal is let go or ended: then nothing is typed into it to stop the work. */
  gone: AbortSignal
}

/** One turn, and the facts of its end. */
export async function takeScreenTurn(
  { spec, parts, sitting, gone }: ScreenTurnParts,
  turn: Turn,
  resume: string | undefined,
  emit: Emit,
): Promise<void> {
  const end = (outcome: Outcome) => emit({ type: 'end', outcome })
  if (turn.signal.aborted) return end(failed('aborted', `${spec.name} was cancelled before it started`))
  const failure = screenStartFailure(spec, turn.leash)
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
  const watch = new TurnWatch(spec.name, spec, turn)
  watch.begin(over.signal, (since) => alive(sitting, parts, turn, since), stop)
  const state = stating(emit)
  const told = threading(emit)
  const waiting = { spec, clock: turn.clock, ask: watch.ask, signal: over.signal, heard: () => watch.heard(), state }
  let run: ScreenResult = {}
  try {
    const thread = async () => (sitting.key === undefined ? undefined : told(sitting.key))
    run = await runInTerminal({ spec, parts, sitting, turn, resume, emit, thread, waiting })
  } catch (error) {
    stop({ kind: 'crash', message: `${spec.name} could not be watched to its end: ${messageOf(error)}` })
  }
  over.abort()
  watched.removeEventListener('abort', cancel)
  if (run.end && !('kind' in run.end)) return answered(run.end)
  if (cause && run.entered !== undefined && !gone.aborted)
    await interruptProgram(sitting, run.entered, spec.name).catch(() => {})
  return end({ ok: false, failure: run.end ?? cause ?? { kind: 'aborted', message: `${spec.name} was left` } })

  async function answered({ text, fenced, whole, by }: ScreenAnswer): Promise<void> {
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
async function alive(
  { terminal, facts }: TerminalProgram,
  parts: ScreenParts,
  { cwd }: Turn,
  since: number,
): Promise<boolean> {
  const below = facts.reader.busy || !terminal ? 0 : await terminal.children().catch(() => 0)
  return below > 0 || ((await parts.changed?.(cwd, since).catch(() => false)) ?? false)
}

function usageOf({ prompt = '', journal }: ScreenResult, answer: string): Event {
  if (journal?.usage) return { type: 'usage', ...journal.usage, source: 'reported' }
  return { type: 'usage', input: estimateTokens(prompt), output: estimateTokens(answer), source: 'estimated' }
}

export type ScreenJob = {
  spec: ScreenSpec
  parts: ScreenParts
  sitting: TerminalProgram
  turn: Turn
  /** A thread that was handed in. */
  resume: string | undefined
  emit: Emit
  /** Tells the key of its session, once it is known: after a crash nothing else leads back to it. */
  thread(): Promise<void>
  waiting: ReadyWait
}

/** What a turn came to; undefined where it was broken off. `entered` is what may be at work in the terminal then. */
export type ScreenResult = {
  end?: ScreenAnswer | Failure
  entered?: string
  prompt?: string
  journal?: Journalled
}

/** One turn in a terminal: the seat, the prompt, and the watch over it to its end. */
export async function runInTerminal(job: ScreenJob): Promise<ScreenResult> {
  const { spec, parts, sitting, turn, resume, waiting } = job
  const own = resumedThread(spec.name, turn.history, resume)
  const seat = await readyProgram(sitting, own.key, turn.leash, waiting)
  if (!seat) return {}
  if ('failure' in seat) return { end: seat.failure }
  await job.thread()
  const nonce = turn.sent ?? nonceOf(turn.id)
  const missed = seat.came === 'began' ? turn.history : own.entries
  const words = promptFor(turn, missed, spec.name)
  const prompt = await preparePrompt(words, { temp: parts.temp, nonce, fence: spec.fence === true })
  sitting.eye.expect(fenceMarks(nonce).close)
  try {
    return { prompt: prompt.text, ...(await askInTerminal(job, seat.sight, prompt, nonce)) }
  } finally {
    sitting.eye.expect(undefined)
    await prompt.remove()
  }
}

async function askInTerminal(
  { parts, sitting, turn, emit, thread, waiting }: ScreenJob,
  ready: Sight,
  prompt: PreparedPrompt,
  nonce: string,
): Promise<ScreenResult> {
  const { eye, facts } = sitting
  const { clock, signal, spec } = waiting
  const { text, mark } = prompt
  const book = facts.journal && new JournalReader(facts.journal, { home: parts.home, env: parts.env, cwd: turn.cwd })
  const journal = async () => {
    const said = await book?.look(mark, sitting.key)
    sitting.learnKey(said?.key)
    await thread()
    return said
  }
  const asked: PastedPrompt = { text }
  const sought: TurnMarks = { nonce, since: ({ rows }) => sinceIn(rows, asked, facts) }
  const kept = async () => (await journal()) !== undefined
  const sending = { name: spec.name, eye, facts, clock, signal, sought, kept }
  let failure: Failure | undefined
  if (turn.sent === undefined) {
    const before = await emptyComposer(ready, sending)
    if (signal.aborted) return {}
    asked.before = screenBefore(before.screen, facts.reader)
    await book?.open()
    // Whoever keeps what is said knows from here on that the prompt may have been taken.
    await waiting.state('busy')
    failure = await deliverPrompt(text, before, sending)
  } else failure = await resumeDelivery(text, await eye.look(sought), sending)
  if (failure) return { entered: text, end: failure }
  const follower = new TurnFollower({ ...waiting, sitting, asked, nonce, sought, emit, journal })
  const end = await follower.end()
  return { entered: text, ...(end ? { end } : {}), ...(follower.journal ? { journal: follower.journal } : {}) }
}

/** Where neither the prompt nor what stood before it is in sight, nothing is said about what is old. */
function sinceIn(rows: readonly string[], asked: PastedPrompt, { reader }: ScreenFacts): string | undefined {
  const since = rowsSince(rows, asked, reader)
  return since.whole ? since.rows.join('\n') : undefined
}

/** How long a program may take to come to rest after the keys that stop it; one without marks shows that by its quiet. */
const restMs = 1_500
const quietRestMs = 2_200

/** How long a prompt that was taken may take to show. */
const beginMs = 1_500

const never = new AbortController().signal

/** Makes a program stop what it is at, by its own keys and then by Ctrl+C; one that does not is ended. */
export async function interruptProgram({ eye, facts }: TerminalProgram, text: string, name: string): Promise<void> {
  const steps: (readonly Key[])[] = facts.reader.idle
    ? [facts.interrupt, facts.interrupt, ['Ctrl+C']]
    : [facts.interrupt, ['Ctrl+C']]
  // An interrupted prompt may come back to the composer: it is emptied before the next one.
  const rests = ({ screen, reading, gone }: Sight) =>
    gone !== undefined ||
    (reading.state === 'idle' && (facts.composer !== undefined || awaitsPrompt(screen, text, facts)))
  // A prompt that was just taken may not show yet that it is worked on: keys that come before that stop nothing.
  if (facts.reader.busy)
    await eye.until(({ reading, gone }) => gone !== undefined || reading.state !== 'idle', beginMs, never)
  for (const keys of steps) {
    const sight = await eye.look()
    if (sight.gone) return
    const dialog = sight.reading.state === 'asking' ? dialogOn(sight, name, facts) : undefined
    for (const key of dialog?.keys() ?? keys) await eye.terminal.press(key)
    if ((await eye.until(rests, facts.reader.idle ? restMs : quietRestMs, never)).so) return
  }
  await eye.terminal.close()
}

/** How long a program may take to leave by itself. */
const leaveMs = 2_000

/** Ends what sits in a terminal: an idle program leaves by its own keys, so that it keeps its session. */
export async function endProgram(sitting: TerminalProgram, atRest: boolean, clock: Clock): Promise<void> {
  const terminal = sitting.terminal ?? (await sitting.found())
  if (!terminal) return
  if (atRest && sitting.terminal) await quitByItself(sitting, clock).catch(() => {})
  await terminal.close()
}

async function quitByItself({ eye, facts }: TerminalProgram, clock: Clock): Promise<void> {
  if (facts.quit.length === 0 || eye.gone || (await eye.look()).reading.state !== 'idle') return
  const away = new AbortController()
  void eye.terminal.exited.then(() => away.abort())
  for (const key of facts.quit) {
    await eye.terminal.press(key)
    await clock.sleep(keyGapMs, away.signal)
  }
  await clock.sleep(leaveMs, away.signal)
}
