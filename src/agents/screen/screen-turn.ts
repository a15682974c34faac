import type { Event } from '../../core/talk/entry.ts'
import type { Failure, Outcome } from '../../core/talk/outcome.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../seat.ts'
import type { ScreenAnswer, PastedPrompt } from './screen-answer.ts'
import type { State, TerminalProgram, ReadyWait } from './screen-program.ts'
import type { ScreenParts, ScreenSpec } from './screen-spec.ts'
import type { Journalled, ScreenFacts } from '../../core/profile/profile.ts'
import type { Sight, TurnMarks } from './screen-watcher.ts'
import type { PreparedPrompt } from './prompt-delivery.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Key } from '../../core/screen/terminal.ts'
import { messageOf } from '../../base/error-message.ts'
import { failed, scrapedWords } from '../../core/talk/outcome.ts'
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
  isUnsent,
  promptEnd,
} from './prompt-delivery.ts'
import { readyProgram } from './screen-program.ts'
import { screenBefore, rowsSince } from './screen-answer.ts'
import { dialogOn, keyGapMs } from './screen-dialogs.ts'

type ScreenTurnParts = {
  spec: ScreenSpec
  parts: ScreenParts
  program: TerminalProgram
  /** Aborts once the terminal is detached or closed: then no key is pressed to stop the work. */
  gone: AbortSignal
}

/** Runs one turn in the terminal, and then emits the facts about its end. */
export async function takeScreenTurn(
  { spec, parts, program, gone }: ScreenTurnParts,
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
    // The first cause wins: an error that follows from the stop did not cause it.
    cause ??= failure
    over.abort()
  }
  const cancel = () => stop({ kind: 'aborted', message: `${spec.name} was cancelled` })
  const watched = AbortSignal.any([turn.signal, gone])
  watched.addEventListener('abort', cancel, { once: true })
  const watch = new TurnWatch(spec.name, spec, turn)
  watch.begin(over.signal, (since) => alive(program, parts, turn, since), stop)
  const state = stateEmitter(emit)
  const tellThread = threadEmitter(emit)
  const waiting = { spec, clock: turn.clock, ask: watch.ask, signal: over.signal, heard: () => watch.heard(), state }
  let run: ScreenResult = {}
  try {
    const thread = async () => (program.key === undefined ? undefined : tellThread(program.key))
    run = await runInTerminal({ spec, parts, program, turn, resume, emit, thread, waiting })
  } catch (error) {
    stop({
      kind: 'crash',
      message: `${spec.name} could not be followed to the end of its turn, because its terminal could not be read: ${messageOf(error)}`,
    })
  }
  over.abort()
  watched.removeEventListener('abort', cancel)
  if (run.end && !('kind' in run.end)) return answered(run.end)
  if (cause && run.entered !== undefined && !gone.aborted)
    await interruptProgram(program, run.entered, spec.name).catch(() => {})
  return end({ ok: false, failure: run.end ?? cause ?? { kind: 'aborted', message: `${spec.name} was stopped` } })

  async function answered({ text, fenced, whole, by }: ScreenAnswer): Promise<void> {
    await state('idle')
    if (!whole)
      await emit({ type: 'note', text: `The beginning of ${spec.name}'s answer has scrolled out of its terminal.` })
    if (!fenced) await emit({ type: 'note', text: spec.fence ? unmarkedWords(spec.name) : scrapedWords(spec.name) })
    await tellThread(program.thread)
    await emit({ type: 'reply', text })
    await emit(usageOf(run, text))
    await end({ ok: true, text, seen: whole ? { fenced, by } : { fenced, by, whole } })
  }
}

const unmarkedWords = (name: string) =>
  `${name} did not mark its answer as it was asked to, and its screen stood still. ${scrapedWords(name)}`

/** Emits a state when it changes. */
function stateEmitter(emit: Emit): (state: State) => Promise<void> {
  let last: State | undefined
  return async (state) => {
    if (state !== last) await emit({ type: 'state', state })
    last = state
  }
}

/** Emits the key of the thread when it changes. */
function threadEmitter(emit: Emit): (key: string) => Promise<void> {
  let last: string | undefined
  return async (key) => {
    if (key !== last) await emit({ type: 'thread', key: (last = key) })
  }
}

/** Whether a program works without drawing: it has child processes and shows no busy mark, or a file changed. */
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

type ScreenJob = {
  spec: ScreenSpec
  parts: ScreenParts
  program: TerminalProgram
  turn: Turn
  /** The key of the thread to resume. */
  resume: string | undefined
  emit: Emit
  /** Emits the key of the session as soon as it is known: after a crash, only the key leads back to the session. */
  thread(): Promise<void>
  waiting: ReadyWait
}

/** The result of a turn; `end` is undefined if it was stopped. `entered` is the prompt that the program may be working on. */
type ScreenResult = {
  end?: ScreenAnswer | Failure
  entered?: string
  prompt?: string
  journal?: Journalled
}

/** Runs one turn: makes the program ready, delivers the prompt, and follows the turn to its end. */
async function runInTerminal(job: ScreenJob): Promise<ScreenResult> {
  const { spec, parts, program, turn, resume, waiting } = job
  const own = resumedThread(spec.name, turn.history, resume)
  const nonce = turn.sent ?? nonceOf(turn.id)
  // A screen with a pasted prompt that was not entered is not idle, and only a key from us can change it.
  const pasted = turn.sent === undefined ? undefined : promptEnd(promptFor(turn, own.entries, spec), nonce, spec)
  const unsent = (sight: Sight) => pasted !== undefined && isUnsent(sight, pasted, program.facts)
  const ready = await readyProgram(program, own.key, turn.leash, { ...waiting, unsent })
  if (!ready) return {}
  if ('failure' in ready) return { end: ready.failure }
  await job.thread()
  const missed = ready.how === 'began' ? turn.history : own.entries
  const words = promptFor(turn, missed, spec)
  const prompt = await preparePrompt(words, { temp: parts.temp, nonce, fence: spec.fence === true })
  program.watcher.expect(spec.fence ? fenceMarks(nonce) : undefined)
  try {
    return { prompt: prompt.text, ...(await askInTerminal(job, ready.sight, prompt, nonce)) }
  } finally {
    program.watcher.expect(undefined)
    await prompt.remove()
  }
}

async function askInTerminal(
  { parts, program, turn, emit, thread, waiting }: ScreenJob,
  ready: Sight,
  prompt: PreparedPrompt,
  nonce: string,
): Promise<ScreenResult> {
  const { watcher, facts } = program
  const { clock, signal, spec } = waiting
  const { text } = prompt
  const place = { home: parts.home, env: parts.env, cwd: turn.cwd }
  const opened = async (paths: readonly string[]) => watcher.terminal.opened?.(paths)
  const reader = facts.journal && new JournalReader(facts.journal, place, opened)
  const journal = async () => {
    const said = await reader?.look(prompt, program.key)
    program.learnKey(said?.key)
    await thread()
    return said
  }
  const asked: PastedPrompt = { text }
  const childrenAtRest = facts.reader.busy ? 0 : await watcher.children()
  const marks: TurnMarks = {
    nonce,
    fence: spec.fence,
    since: ({ rows }) => sinceIn(rows, asked, facts),
    childrenAtRest,
  }
  const kept = async () => (await journal()) !== undefined
  const pasted = () => waiting.state('busy')
  const sending = { name: spec.name, watcher, facts, clock, signal, marks, nonce, pasted, kept }
  let failure: Failure | undefined
  if (turn.sent === undefined) {
    const emptied = await emptyComposer(ready, lastPasted(turn, spec), sending)
    if (signal.aborted) return {}
    if ('failure' in emptied) return { end: emptied.failure }
    const { before } = emptied
    asked.before = screenBefore(before.screen, facts.reader)
    await reader?.open()
    failure = await deliverPrompt(asked, before, sending)
  } else failure = await resumeDelivery(text, await watcher.look(marks), sending)
  if (failure) return { entered: text, end: failure }
  const follower = new TurnFollower({ ...waiting, program, asked, nonce, marks, emit, journal })
  const end = await follower.end()
  return { entered: text, end, journal: follower.journal }
}

/** The end of the prompt that was pasted in the previous turn. */
function lastPasted(turn: Turn, spec: ScreenSpec): string | undefined {
  const last = turn.history.findLast((entry) => entry.type === 'prompt')
  if (!last) return undefined
  const words = promptFor({ ...turn, prompt: last.text, attempts: [], steered: [] }, [], spec)
  return promptEnd(words, nonceOf(last.turn), spec)
}

/** The rows since the prompt; undefined if neither the prompt nor the rows before it are visible. */
function sinceIn(rows: readonly string[], asked: PastedPrompt, { reader }: ScreenFacts): string | undefined {
  const since = rowsSince(rows, asked, reader)
  return since.whole ? since.rows.join('\n') : undefined
}

/** How long a program may take to become idle after the keys that stop it; a program without an idle mark must be quiet for that long. */
const restMs = 1_500
const quietRestMs = 2_200

/** How long a program may take to show that it works on a prompt. */
const beginMs = 1_500

const never = new AbortController().signal

/** Stops the work of a program, by its own keys and then by Ctrl+C; ends a program that continues. */
async function interruptProgram({ watcher, facts }: TerminalProgram, text: string, name: string): Promise<void> {
  const steps: (readonly Key[])[] = facts.reader.idle
    ? [facts.interrupt, facts.interrupt, ['Ctrl+C']]
    : [facts.interrupt, ['Ctrl+C']]
  // An interrupted prompt may return to the composer; the next turn empties it.
  const rests = ({ screen, reading, gone }: Sight) =>
    gone !== undefined ||
    (reading.state === 'idle' && (facts.composer !== undefined || awaitsPrompt(screen, text, facts)))
  // Keys pressed before the program shows that it works would stop nothing.
  if (facts.reader.busy)
    await watcher.until(({ reading, gone }) => gone !== undefined || reading.state !== 'idle', beginMs, never)
  for (const keys of steps) {
    const sight = await watcher.look()
    if (sight.gone) return
    const dialog = sight.reading.state === 'asking' ? dialogOn(sight, name, facts) : undefined
    for (const key of dialog?.keys() ?? keys) await watcher.terminal.press(key)
    if ((await watcher.until(rests, facts.reader.idle ? restMs : quietRestMs, never)).so) return
  }
  await watcher.terminal.close()
}

/** How long a program may take to quit by its own keys. */
const leaveMs = 2_000

/** Ends the program in the terminal; an idle one quits by its own keys, so that it saves its session. */
export async function endProgram(program: TerminalProgram, atRest: boolean, clock: Clock): Promise<void> {
  const terminal = program.terminal ?? (await program.findTerminal())
  if (!terminal) return
  if (atRest && program.terminal) await quitByItself(program, clock).catch(() => {})
  await terminal.close()
}

async function quitByItself({ watcher, facts }: TerminalProgram, clock: Clock): Promise<void> {
  if (facts.quit.length === 0 || watcher.gone || (await watcher.look()).reading.state !== 'idle') return
  const away = new AbortController()
  // The pauses between the keys end by this.
  void watcher.terminal.exited.then(() => away.abort())
  for (const key of facts.quit) {
    await watcher.terminal.press(key)
    await clock.sleep(keyGapMs, away.signal)
  }
  await clock.sleep(leaveMs, away.signal)
}
