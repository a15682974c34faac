import type { Agent, Traits, Turn } from '../../core/work/agent.ts'
import type { PipeSpec, Seat } from './pipe-command.ts'
import type { Run } from '../../base/process/run.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Blobs } from '../../core/talk/store.ts'
import type { Done } from './pipe-process.ts'
import type { Emit, Speech } from './speech.ts'
import { looser } from '../../core/work/agent.ts'
import { seated } from '../seat.ts'
import { composer, dialectOf, argvOf, threadOf } from './pipe-command.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { promptText } from '../../core/talk/transcript.ts'
import { dialectSpeech } from './dialect-speech.ts'
import { unheld } from '../process-failure.ts'
import { runOnce } from './pipe-process.ts'
import { plainSpeech } from './speech.ts'
import { Watch } from '../turn-watch.ts'

export type { PipeSpec } from './pipe-command.ts'

/** A command that reads a prompt from a pipe and answers on another: one process a turn. */
export function pipeAgent(spec: PipeSpec, seat: Seat, parts: PipeParts): Agent {
  const profile = composer(spec)
  const more = looser(seat.leash, profile?.leashes ?? {})
  const traits: Traits = {
    window: spec.window,
    memory: profile?.resumes ? 'own' : 'none',
    talks: profile?.leashes[seat.leash] !== undefined,
    steers: dialectOf(spec, seat.leash, undefined)?.steer !== undefined,
    ...(spec.profile ? { vendor: spec.profile.vendor, login: spec.profile.login } : {}),
    ...(more ? { looser: more } : {}),
  }
  return seated(spec.name, traits, seat, (turn, resume, emit) => takeTurn(spec, resume, parts, turn, emit))
}

export type PipeParts = {
  blobs: Blobs
  env: Record<string, string | undefined>
  /** Whether files below changed since then: work that makes no sound. */
  changed?(cwd: string, since: number): Promise<boolean>
}

/** One turn: on its own thread if there is one, anew if that is lost, then the facts of its end. */
export async function takeTurn(
  spec: PipeSpec,
  resume: string | undefined,
  parts: PipeParts,
  turn: Turn,
  emit: Emit,
): Promise<void> {
  if (turn.signal.aborted) return emit(ended(failed('aborted', `${spec.name} was cancelled before it started`)))
  const loose = unheld(spec.name, turn.leash, composer(spec))
  if (loose) return emit(ended({ ok: false, failure: loose }))
  const watch = new Watch(spec.name, spec, turn)
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
    runOnce({
      spec,
      turn,
      argv: argvOf(spec, turn, key),
      env,
      prompt,
      watch,
      speech: (...parts) => speech(key, ...parts),
      alive,
    })

  const thread = threadOf(spec, turn.history, resume)
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

function lostThread(spec: PipeSpec, { outcome, ended }: Done): boolean {
  if (outcome.ok || outcome.failure.kind === 'aborted' || outcome.failure.kind === 'timeout') return false
  return ended !== undefined && spec.profile?.lostThread?.(ended) === true
}

const ended = (outcome: Done['outcome']): Event => ({ type: 'end', outcome })

function estimate(prompt: string, answerChars: number): Event {
  return {
    type: 'usage',
    input: estimateTokens(prompt),
    output: Math.ceil(answerChars / 4),
    source: 'estimated',
  }
}
