import type { Native } from '../../agents/native/native-loop.ts'
import type { Policy, Verdict } from '../../core/work/policy.ts'
import type { Tool, ToolOutput } from '../../core/work/tool.ts'
import type { HookOutcome } from '../../safety/hooks/run.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { hooks } from './hooking.ts'
import { sessionBegun } from './session.ts'

/** Turns that a hook wants ended, by their signals: a subagent's turn has one of its own. */
const halted = new WeakMap<AbortSignal, string>()

/** What a hook tells the model of a call before it runs, by the call's input. */
const besides = new WeakMap<object, readonly string[]>()

/** What the hooks say to a call: they may forbid it, want it asked, spare the question, change what it runs with or end the turn. */
export function hooked(policy: Policy, seat: NativeSeat, parts: NativeParts): Policy {
  if (!seat.settings.hooks.PreToolUse) return policy
  return async (tool, input, turn) => {
    const told = { tool_name: tool.name, tool_input: input }
    const said = await hooks('PreToolUse', told, seat, parts, turn.signal)
    if (said.stop !== undefined) halted.set(turn.signal, said.stop)
    const given = said.input === undefined ? input : tool.parse(said.input)
    if (said.context.length > 0 && typeof given === 'object' && given !== null) besides.set(given, said.context)
    const judged = await policy(tool, given, turn)
    return { ...decided(judged, said), ...(said.input === undefined ? {} : { input: given }) }
  }
}

/** Nothing that is forbidden otherwise is allowed by a hook. */
function decided(judged: Verdict, { blocked, stop, decision }: HookOutcome): Verdict {
  const against = blocked ?? stop ?? (decision?.permission === 'deny' ? decision.reason : undefined)
  if (against !== undefined) return { verdict: 'no', why: `a hook forbids it: ${against}` }
  if (!decision || judged.verdict === 'no') return judged
  if (decision.permission === 'allow') return { ...judged, verdict: 'yes', why: `a hook allows it: ${decision.reason}` }
  return { ...judged, verdict: 'ask', why: `a hook wants it asked: ${decision.reason}` }
}

/** What the hooks say to a call and to what it gave stands behind it, for the model. */
export function hookedTool(tool: Tool, seat: NativeSeat, parts: NativeParts): Tool {
  const { PreToolUse, PostToolUse } = seat.settings.hooks
  if (!PreToolUse && !PostToolUse) return tool
  const { name, description, schema, risk, alone } = tool
  return {
    ...{ name, description, schema, risk, ...(alone === undefined ? {} : { alone }) },
    parse: (input) => tool.parse(input),
    async run(input, call) {
      const before = besides.get(input as object) ?? []
      const output = await tool.run(input, call)
      const text = typeof output === 'string' ? output : output.text
      const told = { tool_name: name, tool_input: input, tool_response: text }
      const { blocked, stop, context } = await hooks('PostToolUse', told, seat, parts, call.signal)
      if (stop !== undefined) halted.set(call.signal, stop)
      const words = [...before, blocked, stop, ...context].filter((one) => one !== undefined)
      return words.length === 0 ? output : withWords(output, words)
    },
  }
}

type Hooks = Pick<Native, 'opens' | 'ends' | 'halts'>

/** What the hooks say when a session begins, to a prompt, and to an answer that would end the turn. */
export function hookedTurn(seat: NativeSeat, parts: NativeParts): Hooks {
  const { SessionStart, SessionEnd, UserPromptSubmit } = seat.settings.hooks
  return {
    ...((SessionStart || SessionEnd || UserPromptSubmit) && {
      async opens(turn) {
        const begun = await sessionBegun(turn, seat, parts)
        const said = await hooks('UserPromptSubmit', { prompt: turn.prompt }, seat, parts, turn.signal)
        const refused = said.blocked ?? said.stop
        return { besides: [...begun, ...said.context], ...(refused === undefined ? {} : { refused }) }
      },
    }),
    ...ending('Stop', seat, parts),
  }
}

/** The same for a subagent, which has no session of its own. */
export const hookedSubagent = (seat: NativeSeat, parts: NativeParts): Hooks => ending('SubagentStop', seat, parts)

function ending(event: 'Stop' | 'SubagentStop', seat: NativeSeat, parts: NativeParts): Hooks {
  return {
    halts: ({ signal }) => {
      const why = halted.get(signal)
      return why === undefined ? undefined : `A hook ended the turn: ${why}`
    },
    ...(seat.settings.hooks[event] && {
      async ends(answer, again, { signal }) {
        const told = { stop_hook_active: again, last_assistant_message: answer }
        const said = await hooks(event, told, seat, parts, signal)
        return said.stop === undefined ? said.blocked : undefined
      },
    }),
  }
}

function withWords(output: ToolOutput, words: readonly string[]): ToolOutput {
  const behind = words.map((one) => `\n\n[A hook says: ${one}]`).join('')
  return typeof output === 'string' ? output + behind : { ...output, text: output.text + behind }
}
