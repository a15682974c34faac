import type { Outcome, Failure } from '../../core/talk/outcome.ts'
import type { Agent, ForeseenTurn, Leash, Traits, Turn } from '../../core/work/agent.ts'
import type { LentServer } from '../../core/profile/profile.ts'
import type { PipeParts } from '../pipe/pipe-agent.ts'
import type { PipeSpec } from '../pipe/pipe-command.ts'
import type { Emit, Seat } from '../seat.ts'
import type { Lend } from '../lent-server.ts'
import { unshadowedArgv } from '../../base/process/program-path.ts'
import { failed } from '../../core/talk/outcome.ts'
import { estimateTokens } from '../../core/talk/tokens.ts'
import { promptText } from '../../core/talk/transcript.ts'
import { effortWords, environmentOf, folderWords, resumedThread } from '../pipe/pipe-command.ts'
import { turnOf } from '../../core/work/turn-pieces.ts'
import { warmThread } from '../warm-processes.ts'
import { leashFailure } from '../process-failure.ts'
import { profileTraits, seatedAgent } from '../seat.ts'
import { handOverPictures, handOverTyped } from '../turn-pictures.ts'
import { TurnWatch } from '../turn-watch.ts'

export type AcpParts = Pick<PipeParts, 'blobs' | 'env' | 'changed' | 'enclose' | 'lend' | 'warm'>

/**
 * An agent that speaks the Agent Client Protocol over pipes: it asks for permission, and our answers enforce its leash. Each turn has its
 * own process, or one process serves all turns of a chat.
 */
export function acpAgent(spec: PipeSpec, seat: Seat, parts: AcpParts): Agent {
  const facts = spec.profile?.acp
  const traits: Traits = {
    window: spec.window,
    memory: 'own',
    talks: facts?.leashes[seat.leash] !== undefined,
    steers: facts?.steering !== undefined,
    ...profileTraits(spec.profile, seat.leash, facts?.leashes),
  }
  return seatedAgent(
    spec.name,
    traits,
    seat,
    (turn, resume, emit) => takeAcpTurn(spec, resume, parts, turn, emit),
    parts.warm && ((next, resume) => prepareTurn(spec, resume, parts, next)),
  )
}

/** Starts the process that the next turn will borrow. */
async function prepareTurn(
  spec: PipeSpec,
  resume: string | undefined,
  parts: AcpParts,
  next: ForeseenTurn,
): Promise<void> {
  const argv = acpArgv(spec, next.leash)
  if ('kind' in argv || !parts.warm?.open) return
  const env = environmentOf(spec, parts.env)
  const thread = resumedThread(spec.name, next.history, resume)
  const lent = await parts.lend?.()
  const warm = warmTerms(spec, next, parts, thread, lent)
  if (!warm) return
  const { prepareAcpTurn } = await import('./acp-turn.ts')
  await prepareAcpTurn({
    spec,
    turn: next,
    argv: unshadowedArgv(argv, env, next.cwd),
    env,
    enclose: parts.enclose,
    server: lent?.server,
    key: thread.key,
    warm,
  })
}

/** The terms for a process that may serve several turns; undefined if each turn has its own process. */
function warmTerms(
  spec: PipeSpec,
  turn: ForeseenTurn,
  parts: AcpParts,
  thread: ReturnType<typeof resumedThread>,
  lent: Awaited<ReturnType<Lend>>,
) {
  const { warm: pool } = parts
  if (!pool || (lent && !lent.lasting)) return undefined
  return {
    pool,
    fixed: fixedParts(spec, turn, environmentOf(spec, parts.env), lent?.server),
    thread: warmThread(thread),
  }
}

/** Runs one turn, on the agent's existing thread if it still exists, and then emits the facts about its end. */
async function takeAcpTurn(
  spec: PipeSpec,
  resume: string | undefined,
  parts: AcpParts,
  turn: Turn,
  emit: Emit,
): Promise<void> {
  const end = (outcome: Outcome) => emit({ type: 'end', outcome })
  if (turn.signal.aborted) return end(failed('aborted', `${spec.name} was cancelled before it started`))
  const argv = acpArgv(spec, turn.leash)
  if ('kind' in argv) return end({ ok: false, failure: argv })
  let waiting = 0
  const say: Emit = async (event) => {
    waiting++
    await emit(event).finally(() => waiting--)
  }
  const env = environmentOf(spec, parts.env)
  const thread = resumedThread(spec.name, turn.history, resume)
  const { blobs } = parts
  let prompt = ''
  const lent = await parts.lend?.()
  const { runAcpTurn } = await import('./acp-turn.ts')
  const { outcome, usage, left, settled } = await runAcpTurn({
    spec,
    turn,
    argv: unshadowedArgv(argv, env, turn.cwd),
    env,
    enclose: parts.enclose,
    server: lent?.server,
    key: thread.key,
    warm: warmTerms(spec, turn, parts, thread, lent),
    prompt: async ({ id, lasting, resumed, pictures: takes }, seen) => {
      if (lasting) await say({ type: 'thread', key: id })
      const missed = thread.entries.filter((entry) => !seen.has(turnOf(entry.turn)))
      const history = resumed ? missed : turn.history
      const given = await handOverPictures(
        { ...turn, history },
        { name: spec.name, takes: takes ? (spec.profile?.acp?.pictures ?? {}) : undefined, blobs },
      )
      for (const text of given.notes) await say({ type: 'note', text })
      prompt = promptText({
        agent: spec.name,
        prompt: given.prompt,
        history: given.history,
        attempts: turn.attempts,
        steered: given.steered,
        metaInstruction: spec.metaInstruction,
      })
      return { text: prompt, pictures: given.pictures }
    },
    typed: async (text) => (await handOverTyped(text, turn.cwd, { name: spec.name, takes: undefined, blobs })).text,
    watch: new TurnWatch(spec.name, spec, turn),
    emit: say,
    // While an event waits for its reader, the process is blocked: that time does not count as the agent's silence.
    alive: async (since) => waiting > 0 || ((await parts.changed?.(turn.cwd, since).catch(() => false)) ?? false),
  })
  for (const text of settled) await say({ type: 'note', text })
  if (left.length > 0)
    await say({
      type: 'note',
      text: `some processes of ${spec.name} could not be stopped. Stop them with: kill -9 ${left.join(' ')}`,
    })
  if (outcome.ok) {
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

/**
 * Everything that is fixed when the process of an agent starts. Model and effort are excluded, because a session may have options for
 * them, and so is a leash that the agent enforces by its modes. A process that planned does not build.
 */
function fixedParts(
  spec: PipeSpec,
  { leash, cwd }: Pick<Turn, 'leash' | 'cwd'>,
  env: AcpParts['env'],
  server: LentServer | undefined,
): string {
  const plain = { ...spec, model: undefined, effort: undefined }
  const held = spec.profile?.acp?.modes?.[leash] === undefined ? leash : undefined
  return JSON.stringify([acpArgv(plain, leash), held, spec.plans, cwd, env, spec.folders, server])
}

/** Returns the command to start, or why none may start: the agent speaks no ACP, or would do more than its leash allows. */
function acpArgv(
  { name, command, args, model, profile, folders, effort }: PipeSpec,
  leash: Leash,
): [string, ...string[]] | Failure {
  if (command !== undefined) return args ? [command, ...args] : ['bash', '-c', command]
  const facts = profile?.acp
  if (!facts) {
    const message = `${name} does not speak ACP by itself: give it a command that does, or leave its kind out`
    return { kind: 'missing', message }
  }
  return (
    leashFailure(name, leash, facts) ?? [
      'bash',
      '-c',
      [
        facts.command({ leash, model }),
        folderWords(profile, folders),
        profile.effort?.acp && effortWords(profile, effort),
      ]
        .filter(Boolean)
        .join(' '),
    ]
  )
}
