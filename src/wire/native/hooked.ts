import type { Native } from '../../agents/native/loop.ts'
import type { Policy, Verdict } from '../../core/work/policy.ts'
import type { Tool, ToolOutput } from '../../core/work/tool.ts'
import type { HookEvent } from '../../safety/hooks/settings.ts'
import type { HookOutcome } from '../../safety/hooks/run.ts'
import type { NativeParts, NativeSeat } from './parts.ts'
import { runHooks } from '../../safety/hooks/run.ts'

/** What the person's hooks say to a call: they may forbid it, want it asked, spare the question or change what it runs with. */
export function hooked(policy: Policy, seat: NativeSeat, parts: NativeParts): Policy {
  if (!seat.settings.hooks.PreToolUse) return policy
  return async (tool, input, turn) => {
    const told = { tool_name: tool.name, tool_input: input }
    const said = await hooks('PreToolUse', told, seat, parts, turn.signal)
    const given = said.input === undefined ? input : tool.parse(said.input)
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

/** What the hooks say to what a tool gave stands behind it, for the model. */
export function hookedTool(tool: Tool, seat: NativeSeat, parts: NativeParts): Tool {
  if (!seat.settings.hooks.PostToolUse) return tool
  const { name, description, schema, risk, alone } = tool
  return {
    ...{ name, description, schema, risk, ...(alone === undefined ? {} : { alone }) },
    parse: (input) => tool.parse(input),
    async run(input, call) {
      const output = await tool.run(input, call)
      const text = typeof output === 'string' ? output : output.text
      const told = { tool_name: name, tool_input: input, tool_response: text }
      const { blocked, stop, context } = await hooks('PostToolUse', told, seat, parts, call.signal)
      const words = [blocked, stop, ...context].filter((one) => one !== undefined)
      return words.length === 0 ? output : withWords(output, words)
    },
  }
}

/** What the hooks say to a prompt, and to an answer that would end the turn. */
export function hookedTurn(seat: NativeSeat, parts: NativeParts): Pick<Native, 'opens' | 'ends'> {
  const { UserPromptSubmit, Stop } = seat.settings.hooks
  return {
    ...(UserPromptSubmit && {
      async opens({ prompt, signal }) {
        const said = await hooks('UserPromptSubmit', { prompt }, seat, parts, signal)
        const refused = said.blocked ?? said.stop
        return { besides: said.context, ...(refused === undefined ? {} : { refused }) }
      },
    }),
    ...(Stop && {
      async ends(_answer, again, { signal }) {
        const said = await hooks('Stop', { stop_hook_active: again }, seat, parts, signal)
        return said.stop === undefined ? said.blocked : undefined
      },
    }),
  }
}

function withWords(output: ToolOutput, words: readonly string[]): ToolOutput {
  const behind = words.map((one) => `\n\n[A hook says: ${one}]`).join('')
  return typeof output === 'string' ? output + behind : { ...output, text: output.text + behind }
}

async function hooks(
  event: HookEvent,
  told: Record<string, unknown>,
  { settings }: NativeSeat,
  { cwd, env, clock, session, lasting }: NativeParts,
  signal: AbortSignal,
): Promise<HookOutcome> {
  const world = { settings: settings.hooks, cwd, env, clock, signal }
  const said = await runHooks(event, { session_id: session, ...told }, world)
  lasting.notes.push(...said.messages, ...said.warnings)
  return said
}
