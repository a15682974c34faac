import type { Agent, Turn, Leash } from '../../core/work/agent.ts'
import type { Seat, PipeSpec } from '../pipe/pipe-command.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Emit } from '../pipe/speech.ts'
import type { PipeParts } from '../pipe/pipe-agent.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import { looser } from '../../core/work/agent.ts'
import { seatedAgent } from '../seat.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { promptText } from '../../core/talk/transcript.ts'
import { resumedThread } from '../pipe/pipe-command.ts'
import { TurnWatch } from '../turn-watch.ts'
import { runAcpProcess } from './acp-process.ts'
import { leashFailure } from '../process-failure.ts'

/** A command that speaks the Agent Client Protocol on its pipes: it can ask, and is held by our answers. One process a turn. */
export function acpAgent(spec: PipeSpec, seat: Seat, parts: AcpParts): Agent {
  const facts = spec.profile?.acp
  const more = looser(seat.leash, facts?.leashes ?? {})
  const traits = {
    window: spec.window,
    memory: 'own' as const,
    talks: facts?.leashes[seat.leash] !== undefined,
    steers: facts?.steering !== undefined,
    ...(spec.profile ? { vendor: spec.profile.vendor, login: spec.profile.login } : {}),
    ...(more ? { looser: more } : {}),
  }
  return seatedAgent(spec.name, traits, seat, (turn, resume, emit) => takeAcpTurn(spec, resume, parts, turn, emit))
}

export type AcpParts = Pick<PipeParts, 'env' | 'changed'>

/** One turn: on its own thread if the agent still has it, and then the facts of its end. */
export async function takeAcpTurn(
  spec: PipeSpec,
  resume: string | undefined,
  parts: AcpParts,
  turn: Turn,
  emit: Emit,
): Promise<void> {
  const end = (outcome: Extract<Event, { type: 'end' }>['outcome']) => emit({ type: 'end', outcome })
  if (turn.signal.aborted) return end(failed('aborted', `${spec.name} was cancelled before it started`))
  const argv = acpArgv(spec, turn.leash)
  const failure = acpStartFailure(spec, turn.leash)
  if (failure || !argv) return end({ ok: false, failure: failure! })
  let waiting = 0
  const say: Emit = async (event) => {
    waiting++
    await emit(event).finally(() => waiting--)
  }
  const thread = resumedThread(spec.name, turn.history, resume)
  let prompt = ''
  const { outcome, session, usage, left } = await runAcpProcess({
    spec,
    turn,
    argv,
    env: { ...spec.profile?.env, ...parts.env, ...spec.env },
    key: thread.key,
    prompt: (resumed) =>
      (prompt = promptText({
        agent: spec.name,
        prompt: turn.prompt,
        history: resumed ? thread.entries : turn.history,
        attempts: turn.attempts,
        steered: turn.steered,
        ...(spec.metaInstruction === undefined ? {} : { metaInstruction: spec.metaInstruction }),
      })),
    watch: new TurnWatch(spec.name, spec, turn),
    emit: say,
    alive: async (since) => waiting > 0 || ((await parts.changed?.(turn.cwd, since).catch(() => false)) ?? false),
  })
  if (left.length > 0) await say({ type: 'note', text: `processes of ${spec.name} would not die: ${left.join(', ')}` })
  if (outcome.ok) {
    if (session?.lasting) await say({ type: 'thread', key: session.id })
    await say({ type: 'reply', text: outcome.text })
    await say(
      usage ?? {
        type: 'usage',
        input: estimateTokens(prompt),
        output: Math.ceil(outcome.text.length / 4),
        source: 'estimated',
      },
    )
  }
  await end(outcome)
}

export function acpArgv(spec: PipeSpec, leash: Leash): [string, ...string[]] | undefined {
  const { command, args, model } = spec
  if (command !== undefined) return args ? [command, ...args] : ['bash', '-c', command]
  const composed = spec.profile?.acp?.command({ leash, ...(model === undefined ? {} : { model }) })
  return composed === undefined ? undefined : ['bash', '-c', composed]
}

/** Why it is not started at all: nothing speaks ACP, or it would do more than its leash allows. */
export function acpStartFailure(spec: PipeSpec, leash: Leash): Failure | undefined {
  if (spec.command !== undefined) return undefined
  const facts = spec.profile?.acp
  if (!facts) {
    const message = `${spec.name} does not speak ACP of its own: give it a command that does, or leave its kind out`
    return { kind: 'missing', message }
  }
  return leashFailure(spec.name, leash, facts)
}
