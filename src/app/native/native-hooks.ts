import type { Native } from '../../agents/native/native-loop.ts'
import type { Policy, PolicyDecision } from '../../core/work/policy.ts'
import type { Tool, ToolOutput } from '../../core/work/tool.ts'
import type { HookOutcome } from '../../safety/hooks/hook-run.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import type { HookEvent } from '../../safety/hooks/hook-config.ts'
import type { Mode } from '../../safety/rules/permission-modes.ts'
import type { Turn } from '../../core/work/agent.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Ask, Question } from '../../core/talk/question.ts'
import { join } from 'node:path'
import { runHooks } from '../../safety/hooks/hook-run.ts'
import { slugOf } from '../project.ts'

/** Turns that a hook wants ended, by their signals: a subagent's turn has one of its own. */
const halted = new WeakMap<AbortSignal, string>()

/** What a hook tells the model of a call before it runs, by the call's input. */
const besides = new WeakMap<object, readonly string[]>()

/** What the hooks say to a call: they may forbid it, want it asked, spare the question, change what it runs with or end the turn. */
export function withHooks(policy: Policy, seat: NativeSeat, parts: NativeParts): Policy {
  if (!seat.settings.hooks.PreToolUse) return policy
  return async (tool, input, turn) => {
    const said = await runSeatHooks('PreToolUse', { tool_input: input }, seat, parts, turn.signal, tool)
    if (said.stop !== undefined) halted.set(turn.signal, said.stop)
    const given = said.input === undefined ? input : tool.parse(said.input)
    if (said.context.length > 0 && typeof given === 'object' && given !== null) besides.set(given, said.context)
    const judged = await policy(tool, given, turn)
    return { ...decided(judged, said), ...(said.input === undefined ? {} : { input: given }) }
  }
}

/** Nothing that is forbidden otherwise is allowed by a hook. */
function decided(judged: PolicyDecision, { blocked, stop, decision }: HookOutcome): PolicyDecision {
  const against = blocked ?? stop ?? (decision?.permission === 'deny' ? decision.reason : undefined)
  if (against !== undefined) return { verdict: 'no', why: `a hook forbids it: ${against}` }
  if (!decision || judged.verdict === 'no') return judged
  if (decision.permission === 'allow') return { ...judged, verdict: 'yes', why: `a hook allows it: ${decision.reason}` }
  return { ...judged, verdict: 'ask', why: `a hook wants it asked: ${decision.reason}` }
}

/** What the hooks say to a call and to what it gave stands behind it, for the model. */
export function toolWithHooks(tool: Tool, seat: NativeSeat, parts: NativeParts): Tool {
  const { PreToolUse, PostToolUse } = seat.settings.hooks
  if (!PreToolUse && !PostToolUse) return tool
  return {
    ...tool,
    async run(input, call) {
      const before = besides.get(input as object) ?? []
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

type Hooks = Pick<Native, 'opens' | 'ends' | 'halts'>

/** What the hooks say when a session begins, to a prompt, and to an answer that would end the turn. */
export function turnHooks(seat: NativeSeat, parts: NativeParts): Hooks {
  const { SessionStart, SessionEnd, UserPromptSubmit } = seat.settings.hooks
  return {
    ...((SessionStart || SessionEnd || UserPromptSubmit) && {
      async opens(turn) {
        const begun = await sessionBegun(turn, seat, parts)
        const said = await runSeatHooks('UserPromptSubmit', { prompt: turn.prompt }, seat, parts, turn.signal)
        const refused = said.blocked ?? said.stop
        return { hookGuides: [...begun, ...said.context], ...(refused === undefined ? {} : { refused }) }
      },
    }),
    ...ending('Stop', seat, parts),
  }
}

/** The same for a subagent, which has no session of its own. */
export const subagentHooks = (seat: NativeSeat, parts: NativeParts): Hooks => ending('SubagentStop', seat, parts)

function ending(event: 'Stop' | 'SubagentStop', seat: NativeSeat, parts: NativeParts): Hooks {
  return {
    halts: ({ signal }) => {
      const why = halted.get(signal)
      return why === undefined ? undefined : `A hook ended the turn: ${why}`
    },
    ...(seat.settings.hooks[event] && {
      async ends(answer, again, { signal }) {
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

/** Whose hooks, and how it is held. */
export type Hooking = Pick<NativeSeat, 'settings'>

/** Runs the hooks of an event with what every one of them is told; what they say to the person is a note. */
export async function runSeatHooks(
  event: HookEvent,
  told: Record<string, unknown>,
  { settings }: Hooking,
  { cwd, root, env, clock, session, state, home, audited }: NativeParts,
  signal: AbortSignal,
  tool?: Tool,
): Promise<HookOutcome> {
  const input = {
    session_id: session,
    ...(audited ? { transcript_path: join(home, 'projects', slugOf(root), 'history.jsonl') } : {}),
    permission_mode: shared[settings.permissions.mode],
    ...told,
  }
  const said = await runHooks(event, input, { settings: settings.hooks, cwd, root, env, clock, signal, tool })
  state.notes.push(...said.messages, ...said.warnings)
  return said
}

/** As the modes are called where hooks are written for. */
const shared: Record<Mode, string> = {
  default: 'default',
  acceptEdits: 'acceptEdits',
  plan: 'plan',
  dontAsk: 'dontAsk',
  bypass: 'bypassPermissions',
}

/** With the first turn of our own agent in a session of this run its hooks are told, and so after a summary; gives what they tell the model. */
export async function sessionBegun(turn: Turn, seat: NativeSeat, parts: NativeParts): Promise<string[]> {
  const { state, session } = parts
  const source = sourceOf(turn, parts)
  if (source === undefined) return []
  const over = new AbortController().signal
  const end = async (reason: string) => (await runSeatHooks('SessionEnd', { reason }, seat, parts, over)).warnings
  state.session = { id: session, end }
  const { context } = await runSeatHooks('SessionStart', { source }, seat, parts, turn.signal)
  return context
}

function sourceOf({ history }: Turn, { state, session }: NativeParts): string | undefined {
  const was = state.session
  if (was?.id === session) return was.compacted ? 'compact' : undefined
  if (history.length > 0) return 'resume'
  return was ? 'clear' : 'startup'
}

/** Whoever is asked may look elsewhere: hooks tell them. Nobody waits for those. */
export function notifying(ask: Ask, seat: NativeSeat, parts: NativeParts): Ask {
  if (!seat.settings.hooks.Notification) return ask
  return (question, withdrawn, id) => {
    notify(question, seat, parts, withdrawn)
    return ask(question, withdrawn, id)
  }
}

/** The questions that a turn ends with are asked when it is over. */
export function notifyOfAsks(event: Event, seat: NativeSeat, parts: NativeParts, signal: AbortSignal): void {
  if (event.type !== 'result' || !seat.settings.hooks.Notification) return
  const [first] = (event.data as { asks?: Question[] } | undefined)?.asks ?? []
  if (first) notify(first, seat, parts, signal)
}

function notify({ about, text }: Question, seat: NativeSeat, parts: NativeParts, signal: AbortSignal): void {
  const kind = about === 'permission' ? 'permission_prompt' : 'elicitation_dialog'
  const told = { message: text, title: 'termaite', notification_type: kind }
  void runSeatHooks('Notification', told, seat, parts, signal)
}
