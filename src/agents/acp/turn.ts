import type { Event } from '../../core/talk/entry.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Emit } from '../pipe/speech.ts'
import type { PipeParts } from '../pipe/turn.ts'
import type { AcpSpec } from './command.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { promptText } from '../../core/talk/transcript.ts'
import { ownThread } from '../pipe/command.ts'
import { Watch } from '../pipe/watch.ts'
import { argvOf, hindrance } from './command.ts'
import { runOnce } from './once.ts'

export type AcpParts = Pick<PipeParts, 'env' | 'changed'>

/** One turn: on its own thread if the agent still has it, and then the facts of its end. */
export async function takeTurn(
  spec: AcpSpec,
  resume: string | undefined,
  parts: AcpParts,
  turn: Turn,
  emit: Emit,
): Promise<void> {
  const end = (outcome: Extract<Event, { type: 'end' }>['outcome']) => emit({ type: 'end', outcome })
  if (turn.signal.aborted) return end(failed('aborted', `${spec.name} was cancelled before it started`))
  const argv = argvOf(spec, turn.leash)
  const failure = hindrance(spec, turn.leash)
  if (failure || !argv) return end({ ok: false, failure: failure! })
  let waiting = 0
  const say: Emit = async (event) => {
    waiting++
    await emit(event).finally(() => waiting--)
  }
  const thread = ownThread(spec.name, turn.history, resume)
  let prompt = ''
  const { outcome, session, usage, left } = await runOnce({
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
    watch: new Watch(spec.name, spec, turn),
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
