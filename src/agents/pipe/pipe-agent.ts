import type { Agent, Traits, Turn } from '../../core/work/agent.ts'
import type { PipeSpec, Seat } from './pipe-command.ts'
import type { Run } from '../../base/process/run.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { PipeResult } from './pipe-process.ts'
import type { Emit, Speech } from './speech.ts'
import { looser } from '../../core/work/agent.ts'
import { seatedAgent } from '../seat.ts'
import { composingProfile, dialectOf, pipeArgv, pipeThread } from './pipe-command.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { promptText } from '../../core/talk/transcript.ts'
import { dialectSpeech } from './dialect-speech.ts'
import { leashFailure } from '../process-failure.ts'
import { runCommand } from './pipe-process.ts'
import { plainSpeech } from './speech.ts'
import { TurnWatch } from '../turn-watch.ts'

export type { PipeSpec } from './pipe-command.ts'

/** A command that reads a prompt from a pipe and answers on another: one process a turn. */
export function pipeAgent(spec: PipeSpec, seat: Seat, parts: PipeParts): Agent {
  const profile = composingProfile(spec)
  const more = looser(seat.leash, profile?.leashes ?? {})
  const traits: Traits = {
    window: spec.window,
    memory: profile?.resumes ? 'own' : 'none',
    talks: profile?.leashes[seat.leash] !== undefined,
    steers: dialectOf(spec, seat.leash, undefined)?.steer !== undefined,
    ...(spec.profile ? { vendor: spec.profile.vendor, login: spec.profile.login } : {}),
    ...(more ? { looser: more } : {}),
  }
  return seatedAgent(spec.name, traits, seat, (turn, resume, emit) => takePipeTurn(spec, resume, parts, turn, emit))
}

export type PipeParts = {
  blobs: Blobs
  env: Record<string, string | undefined>
  /** Whether files below changed since then: work that makes no sound. */
  changed?(cwd: string, since: number): Promise<boolean>
}

/** One turn: on its own thread if there is one, anew if that is lost, then the facts of its end. */
export async function takePipeTurn(
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
  const speech = (key: string | undefined, run: Run, withdrawn: AbortSignal): Speech => {
    const dialect = dialectOf(spec, turn.leash, key)
    if (!dialect) return plainSpeech(parts.blobs, say)
    return dialectSpeech(dialect, { name: spec.name, emit: say, turn: asking, stdin: run.stdin, withdrawn })
  }
  const alive = async (speech: Speech, since: number) =>
    waiting > 0 || speech.busy() || ((await parts.changed?.(turn.cwd, since).catch(() => false)) ?? false)
  const prompted = (history: Turn['history']) =>
    promptText({
      agent: spec.name,
      prompt: turn.prompt,
      history,
      attempts: turn.attempts,
      steered: turn.steered,
      ...(spec.metaInstruction === undefined ? {} : { metaInstruction: spec.metaInstruction }),
    })
  const run = (key: string | undefined, prompt: string) =>
    runCommand({
      spec,
      turn,
      argv: pipeArgv(spec, turn, key),
      env,
      prompt,
      watch,
      speech: (...parts) => speech(key, ...parts),
      alive,
    })

  const thread = pipeThread(spec, turn.history, resume)
  let { key } = thread
  let prompt = prompted(thread.entries)
  let done = await run(key, prompt)
  if (key !== undefined && lostThread(spec, done)) {
    key = undefined
    said.clear()
    prompt = prompted(turn.history)
    done = await run(key, prompt)
  }
  const { outcome, left } = done
  if (left.length > 0) await say({ type: 'note', text: `processes of ${spec.name} would not die: ${left.join(', ')}` })
  if (outcome.ok) {
    // The turn that was answered last must name the thread, whether or not the CLI says it again.
    if (key !== undefined && !said.has('thread')) await say({ type: 'thread', key })
    await say({ type: 'reply', text: outcome.text, ...(outcome.whole ? { whole: outcome.whole } : {}) })
    if (!said.has('usage')) await say(estimate(prompt, outcome.whole?.bytes ?? outcome.text.length))
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
