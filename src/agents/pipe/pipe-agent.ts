import type { Agent, Traits, Turn } from '../../core/work/agent.ts'
import type { PipeSeat, PipeSpec } from './pipe-command.ts'
import type { Run } from '../../base/process/run.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { PipeResult } from './pipe-process.ts'
import type { Emit } from '../seat.ts'
import type { Lend } from '../lent-words.ts'
import { lentWords } from '../lent-words.ts'
import type { Enclose } from '../enclosure.ts'
import type { PictureText, Speech } from './speech.ts'
import { unshadowedArgv } from '../../base/program-path.ts'
import { defined } from '../../base/defined.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { promptText } from '../../core/talk/transcript.ts'
import { leashFailure } from '../process-failure.ts'
import { profileTraits, seatedAgent } from '../seat.ts'
import { handOverPictures } from '../turn-pictures.ts'
import { TurnWatch } from '../turn-watch.ts'
import { dialectSpeech } from './dialect-speech.ts'
import { composingProfile, dialectOf, effortWords, folderWords, pipeArgv, pipeThread } from './pipe-command.ts'
import { runCommand } from './pipe-process.ts'
import { plainSpeech } from './speech.ts'

export type { PipeSpec } from './pipe-command.ts'

export type PipeParts = {
  blobs: Blobs
  env: Record<string, string | undefined>
  /** Puts the CLI behind a wall where it needs one. */
  enclose?: Enclose
  lend?: Lend
  /** Whether a file below the folder changed since then: some work shows nowhere else. */
  changed?(cwd: string, since: number): Promise<boolean>
}

/** An agent that reads a prompt from a pipe and answers on another: one process a turn. */
export function pipeAgent(spec: PipeSpec, seat: PipeSeat, parts: PipeParts): Agent {
  const profile = composingProfile(spec)
  const traits: Traits = {
    window: spec.window,
    memory: profile?.resumes ? 'own' : 'none',
    talks: profile?.leashes[seat.leash] !== undefined,
    steers: dialectOf(spec, seat.leash, undefined)?.steer !== undefined,
    ...profileTraits(spec.profile, seat.leash, profile?.leashes),
  }
  return seatedAgent(spec.name, traits, seat, (turn, resume, emit) => takePipeTurn(spec, resume, parts, turn, emit))
}

/** Takes one turn on the agent's own thread, or on a new one when that is lost, and then emits the facts of its end. */
async function takePipeTurn(
  spec: PipeSpec,
  resume: string | undefined,
  parts: PipeParts,
  turn: Turn,
  emit: Emit,
): Promise<void> {
  if (turn.signal.aborted) return emit(ended(failed('aborted', `${spec.name} was cancelled before it started`)))
  const loose = leashFailure(spec.name, turn.leash, composingProfile(spec))
  if (loose) return emit(ended({ ok: false, failure: loose }))
  const watch = new TurnWatch(spec.name, spec, turn)
  const asking = { ...turn, ask: watch.ask }
  const said = new Set<Event['type']>()
  let waiting = 0
  const say: Emit = async (event) => {
    said.add(event.type)
    waiting++
    await emit(event).finally(() => waiting--)
  }
  const env = { ...spec.profile?.env, ...parts.env, ...spec.env }
  const lent = await lentWords(composingProfile(spec)?.lends, parts.lend)
  const composing = composingProfile(spec)
  const words = [lent, folderWords(composing, spec.folders), effortWords(composing, spec.effort)]
  const more = words.filter((one) => one !== '').join(' ')
  const speech = (key: string | undefined, run: Run, withdrawn: AbortSignal): Speech => {
    const dialect = dialectOf(spec, turn.leash, key)
    if (!dialect) return plainSpeech(parts.blobs, say)
    return dialectSpeech(dialect, { name: spec.name, emit: say, turn: asking, stdin: run.stdin, withdrawn, blobs })
  }
  // While an event waits for its reader, the process is held up: that time is not counted as the agent's silence.
  const alive = async (speech: Speech, since: number) =>
    waiting > 0 || speech.busy() || ((await parts.changed?.(turn.cwd, since).catch(() => false)) ?? false)
  const { blobs } = parts
  const told = new Set<string>()
  const promptFor = async (key: string | undefined, history: Turn['history']) => {
    const takes = dialectOf(spec, turn.leash, key)?.pictures
    const given = await handOverPictures({ ...turn, history }, { name: spec.name, takes, blobs })
    for (const text of given.notes.filter((note) => !told.has(note))) {
      told.add(text)
      await say({ type: 'note', text })
    }
    const text = promptText({
      agent: spec.name,
      prompt: given.prompt,
      history: given.history,
      attempts: turn.attempts,
      steered: given.steered,
      metaInstruction: spec.metaInstruction,
    })
    return { text, pictures: given.pictures }
  }
  const run = (key: string | undefined, prompt: PictureText) =>
    runCommand({
      spec,
      turn,
      argv: unshadowedArgv(pipeArgv(spec, turn, key, more), env, turn.cwd),
      env,
      enclose: parts.enclose,
      prompt,
      watch,
      speech: (...parts) => speech(key, ...parts),
      alive,
    })

  const thread = pipeThread(spec, turn.history, resume)
  let { key } = thread
  let prompt = await promptFor(key, thread.entries)
  let done = await run(key, prompt)
  if (key !== undefined && lostThread(spec, done)) {
    key = undefined
    said.clear()
    prompt = await promptFor(key, turn.history)
    done = await run(key, prompt)
  }
  const { outcome, left } = done
  for (const text of done.settled) await say({ type: 'note', text })
  if (left.length > 0)
    await say({
      type: 'note',
      text: `some processes of ${spec.name} could not be ended. End them with: kill -9 ${left.join(' ')}`,
    })
  if (outcome.ok) {
    // The next turn resumes the thread that this one names, even where the CLI does not name it again.
    if (key !== undefined && !said.has('thread')) await say({ type: 'thread', key })
    await say(defined({ type: 'reply', text: outcome.text, whole: outcome.whole }))
    if (!said.has('usage')) await say(estimate(prompt.text, outcome.whole?.bytes ?? outcome.text.length))
  }
  await emit(ended(outcome))
}

function lostThread(spec: PipeSpec, { outcome, ended }: PipeResult): boolean {
  if (outcome.ok || outcome.failure.kind === 'aborted' || outcome.failure.kind === 'timeout') return false
  return ended !== undefined && spec.profile?.lostThread?.(ended) === true
}

const ended = (outcome: PipeResult['outcome']): Event => ({ type: 'end', outcome })

function estimate(prompt: string, answerChars: number): Event {
  return {
    type: 'usage',
    input: estimateTokens(prompt),
    output: Math.ceil(answerChars / 4),
    source: 'estimated',
  }
}
