import type { Native } from './loop/native-loop.ts'
import type { Policy, PolicyDecision } from '../core/work/policy.ts'
import type { Tool, ToolOutput } from '../core/work/tool.ts'
import type { HookOutcome } from '../safety/hooks/hook-run.ts'
import type { NativeParts, NativeSeat, WithState } from './native-parts.ts'
import type { Hook, HookEvent } from '../safety/hooks/hook-config.ts'
import type { Argv } from '../safety/wall/wall.ts'
import type { Mode } from '../safety/rules/permission-modes.ts'
import type { Turn } from '../core/work/agent.ts'
import type { Event } from '../core/talk/entry.ts'
import type { Ask, Question } from '../core/talk/question.ts'
import { join } from 'node:path'
import { withoutModelKeys } from '../core/profile/key-variables.ts'
import { namedKeys } from '../border/agent-environment.ts'
import { slugOf } from '../home/project.ts'
import { hookRecord } from './native-audit.ts'
import { enclose } from './native-enclosure.ts'

/** Why a hook wants to end a turn, by the turn's signal, because a subagent's turn has its own. */
const halted = new WeakMap<AbortSignal, string>()

/** Texts for the model from PreToolUse hooks about a call, by the call's input; the tool adds them to its output. */
const callContext = new WeakMap<object, readonly string[]>()

/** Lets PreToolUse hooks decide on a call: forbid it, ask the person, allow it without a question, change its input, or end the turn. */
export function withHooks(policy: Policy, seat: NativeSeat, parts: NativeParts): Policy {
  if (!seat.settings.hooks.PreToolUse) return policy
  return async (tool, input, turn) => {
    const said = await runSeatHooks('PreToolUse', { tool_input: input }, seat, parts, turn.signal, tool)
    if (said.stop !== undefined) halted.set(turn.signal, said.stop)
    const given = said.input === undefined ? input : tool.parse(said.input)
    if (said.context.length > 0 && typeof given === 'object' && given !== null) callContext.set(given, said.context)
    const judged = await policy(tool, given, turn)
    return { ...joinDecisions(judged, said), input: said.input === undefined ? undefined : given }
  }
}

/** Combines the policy's decision with the hooks'. A hook cannot allow a call that the policy forbids, or that the person must allow. */
function joinDecisions(judged: PolicyDecision, { blocked, stop, decision }: HookOutcome): PolicyDecision {
  const against = blocked ?? stop ?? (decision?.permission === 'deny' ? decision.reason : undefined)
  if (against !== undefined) return { verdict: 'no', why: `a hook forbids it: ${against}` }
  if (!decision || judged.verdict === 'no') return judged
  if (decision.permission === 'allow' && judged.personal) return judged
  if (decision.permission === 'allow') return { ...judged, verdict: 'yes', why: `a hook allows it: ${decision.reason}` }
  return { ...judged, verdict: 'ask', why: `a hook wants you to be asked: ${decision.reason}` }
}

/** Runs PostToolUse hooks after a tool, and adds their messages to the output for the model. */
export function toolWithHooks(tool: Tool, seat: NativeSeat, parts: NativeParts): Tool {
  const { PreToolUse, PostToolUse } = seat.settings.hooks
  if (!PreToolUse && !PostToolUse) return tool
  return {
    ...tool,
    async run(input, call) {
      const before = callContext.get(input as object) ?? []
      const output = await tool.run(input, call)
      const text = typeof output === 'string' ? output : output.text
      const told = { tool_input: input, tool_response: text }
      const { blocked, stop, context } = await runSeatHooks('PostToolUse', told, seat, parts, call.signal, tool)
      if (stop !== undefined) halted.set(call.signal, stop)
      const words = [...before, blocked, stop, ...context].filter((one) => one !== undefined)
      return words.length === 0 ? output : withWords(output, words)
    },
  }
}

type Hooks = Pick<Native, 'opens' | 'ends' | 'halts' | 'forbidsSummary'>

/** Runs the hooks of a turn: when a session begins, when a prompt is submitted, and when an answer would end the turn. */
export function turnHooks(seat: NativeSeat, parts: NativeParts): Hooks {
  const { SessionStart, SessionEnd, UserPromptSubmit } = seat.settings.hooks
  return {
    ...((SessionStart || SessionEnd || UserPromptSubmit) && {
      async opens(turn) {
        turn.waits?.('running your hooks for this prompt')
        const begun = await sessionBegun(turn, seat, parts)
        const said = await runSeatHooks('UserPromptSubmit', { prompt: turn.prompt }, seat, parts, turn.signal)
        const refused = said.blocked ?? said.stop
        return { hookGuides: [...begun, ...said.context], refused }
      },
    }),
    ...ending('Stop', seat, parts),
  }
}

/** Runs the hooks of a subagent's turn, which has no session of its own. */
export const subagentHooks = (seat: NativeSeat, parts: NativeParts): Hooks => ending('SubagentStop', seat, parts)

function ending(event: 'Stop' | 'SubagentStop', seat: NativeSeat, parts: NativeParts): Hooks {
  return {
    halts: ({ signal }) => {
      const why = halted.get(signal)
      return why === undefined ? undefined : `A hook ended the turn: ${why}`
    },
    ...(seat.settings.hooks.PreCompact && {
      async forbidsSummary({ signal }) {
        const told = { trigger: 'auto', custom_instructions: '' }
        const said = await runSeatHooks('PreCompact', told, seat, parts, signal)
        const against = said.blocked ?? said.stop
        return against === undefined ? undefined : `a hook forbids it: ${against}`
      },
    }),
    ...(seat.settings.hooks[event] && {
      async ends(answer, again, { signal, waits }) {
        waits?.(`running your ${event} hooks`)
        const told = { stop_hook_active: again, last_assistant_message: answer }
        const said = await runSeatHooks(event, told, seat, parts, signal)
        return said.stop === undefined ? said.blocked : undefined
      },
    }),
  }
}

function withWords(output: ToolOutput, words: readonly string[]): ToolOutput {
  const behind = words.map((one) => `\n\n[A hook says: ${one}]`).join('')
  return typeof output === 'string' ? output + behind : { ...output, text: output.text + behind }
}

/** The settings with the hooks and the permission mode; without `leash`, the leash of the settings applies. */
type HookSeat = Pick<NativeSeat, 'settings'> & Partial<Pick<NativeSeat, 'leash'>>

/** Runs the hooks of an event with the input that every hook gets; their messages and warnings become notes. */
export async function runSeatHooks(
  event: HookEvent,
  told: Record<string, unknown>,
  { settings, leash = settings.leash }: HookSeat,
  parts: NativeParts,
  signal: AbortSignal,
  tool?: Tool,
): Promise<HookOutcome> {
  const { cwd, root, env, clock, session, state, home, audited } = parts
  const input = {
    session_id: session,
    transcript_path: audited ? join(home, 'projects', slugOf(root), 'history.jsonl') : undefined,
    permission_mode: hookModes[settings.permissions.mode],
    ...told,
  }
  const world = {
    settings: settings.hooks,
    cwd,
    root,
    env: withoutModelKeys(env, namedKeys(settings)),
    clock,
    signal,
    tool,
    enclose: async (hook: Hook, argv: Argv, own: NativeParts['env']) => {
      // The person's own notification hooks use desktop services, which the wall hides.
      const unwalled = hook.wall === false || event === 'Notification'
      const program = { argv, env: own, own: hook.project !== true, unwalled, git: 'write' as const }
      const how = await enclose(program, { settings, leash }, parts)
      const hint = hook.project ? projectHint : ownHint
      return how.argv === argv ? how : { ...how, hint }
    },
    record: hookRecord(event, parts),
  }
  const { runHooks } = await import('../safety/hooks/hook-run.ts')
  const said = await runHooks(event, input, world)
  state.notes.waiting.push(...said.messages, ...said.warnings)
  return said
}

const ownHint = '"wall": false beside its command in your settings lets it run outside.'
const projectHint = 'Hooks of a project always run in the sandbox.'

/** The names that hooks know from Claude Code for our modes. */
const hookModes: Record<Mode, string> = {
  default: 'default',
  acceptEdits: 'acceptEdits',
  plan: 'plan',
  dontAsk: 'dontAsk',
  bypass: 'bypassPermissions',
}

/**
 * Runs the SessionStart hooks with the first turn of a session in this run, and again after a compaction; returns their messages for the
 * model.
 */
async function sessionBegun(turn: Turn, seat: NativeSeat, parts: NativeParts): Promise<string[]> {
  const { state, session } = parts
  const source = sourceOf(turn, parts)
  if (source === undefined) return []
  const over = new AbortController().signal
  const end = async (reason: string) => (await runSeatHooks('SessionEnd', { reason }, seat, parts, over)).warnings
  state.session.begun = { id: session, end }
  const { context } = await runSeatHooks('SessionStart', { source }, seat, parts, turn.signal)
  return context
}

function sourceOf(
  { history }: Turn,
  { state, session }: Pick<NativeParts, 'session'> & WithState<'session'>,
): string | undefined {
  const was = state.session.begun
  if (was?.id === session) return was.compacted ? 'compact' : undefined
  if (history.length > 0) return 'resume'
  return was ? 'clear' : 'startup'
}

/** Runs Notification hooks when a question is asked, because the person may be looking elsewhere. */
export function notifying(ask: Ask, seat: NativeSeat, parts: NativeParts): Ask {
  if (!seat.settings.hooks.Notification) return ask
  return (question, withdrawn, id) => {
    notify(question, seat, parts, withdrawn)
    return ask(question, withdrawn, id)
  }
}

/** Runs Notification hooks for an agent's reports, and for the questions with which a turn ends. */
export function notifyOfEvent(event: Event, seat: NativeSeat, parts: NativeParts, signal: AbortSignal): void {
  if (!seat.settings.hooks.Notification) return
  if (event.type === 'notification') {
    const told = { message: event.text, title: 'termaite', notification_type: 'agent_report' }
    void runSeatHooks('Notification', told, seat, parts, signal)
  }
  if (event.type !== 'result') return
  const [first] = (event.data as { asks?: Question[] } | undefined)?.asks ?? []
  if (first) notify(first, seat, parts, signal)
}

function notify({ about, text }: Question, seat: NativeSeat, parts: NativeParts, signal: AbortSignal): void {
  const kind = about === 'permission' ? 'permission_prompt' : 'elicitation_dialog'
  const told = { message: text, title: 'termaite', notification_type: kind }
  // The question does not wait for the hooks that announce it.
  void runSeatHooks('Notification', told, seat, parts, signal)
}
