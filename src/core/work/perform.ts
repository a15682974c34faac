import type { Event } from '../talk/entry.ts'
import type { Outcome } from '../talk/outcome.ts'
import type { Question } from '../talk/question.ts'
import type { Agent, Turn } from './agent.ts'
import type { Consent, Policy, PolicyDecision } from './policy.ts'
import type { Result, Tool, ToolCall } from './tool.ts'
import { messageOf } from '../../base/error-message.ts'
import { Channel } from '../../base/channel.ts'
import { defined } from '../../base/defined.ts'
import { drain } from '../../base/relay.ts'
import { consult } from './verbs.ts'
import { describedTool } from './tool.ts'
import { consentOptions } from '../talk/consent.ts'

/**
 * Runs one tool under the rules: parses its input, asks the policy and perhaps the person, then runs it. The `call` is yielded first, so
 * that it is stored before the tool acts. Every problem becomes a result that says what to do.
 */
export async function* perform(
  call: {
    id: string
    tool: Tool | undefined
    name: string
    input: unknown
    via?: string
    step?: number
    opaque?: unknown
  },
  turn: Turn,
  policy: Policy,
  known: readonly string[] = [],
): AsyncGenerator<Event, Result> {
  const { id, name, input, via, step, opaque } = call
  yield defined({ type: 'call' as const, call: id, tool: name, input, via, step, opaque })
  const live = new Channel<Event>(256)
  let result: Result = { ok: false, text: 'the tool gave no result' }
  const channels = {
    progress: (delta: string) => live.offer({ type: 'progress', call: call.id, delta }),
    consult: (agent: Agent, role: string, task: string) => apart(agent, role, task, turn, live),
  }
  const work = outcome(call, turn, policy, known, channels)
    .then((r) => (result = r))
    .finally(() => live.close())
  try {
    yield* live
  } finally {
    // A reader that leaves early has aborted the turn: the tool must not continue unseen.
    await work
  }
  yield { type: 'result', call: call.id, ...result }
  return result
}

async function outcome(
  call: { tool: Tool | undefined; name: string; input: unknown },
  turn: Turn,
  policy: Policy,
  known: readonly string[],
  channels: Pick<ToolCall, 'progress' | 'consult'>,
): Promise<Result> {
  const { tool } = call
  if (!tool)
    return no(`There is no tool ${call.name}. ${known.length ? `Use one of: ${known.join(', ')}.` : ''}`.trim())
  try {
    let input: unknown
    try {
      input = tool.parse(call.input)
    } catch (error) {
      return no(
        `${tool.name} could not read its input: ${words(error)} Call it again as it is described here.\n\n${describedTool(tool)}`,
      )
    }
    const verdict = await policy(tool, input, turn)
    if (verdict.input !== undefined) input = verdict.input
    const refused = await refusal(tool, input, turn, verdict)
    if (refused) return refused
    await turn.begun?.()
    if (turn.signal.aborted) return no('cancelled before it ran')
    await verdict.begins?.()
    let ok = false
    try {
      const until = Number.MAX_SAFE_INTEGER
      const { cwd, leash, signal, ask } = turn
      const output = await tool.run(input, { cwd, leash, places: verdict.places, signal, ask, until, ...channels })
      ok = true
      return typeof output === 'string' ? { ok, text: output } : { ok, ...output }
    } finally {
      verdict.ran?.(ok)
    }
  } catch (error) {
    return no(`${tool.name} failed: ${words(error)}`)
  }
}

/** Consults an agent on behalf of a tool. None of its events may be dropped: its usage is among them. */
async function apart(agent: Agent, role: string, task: string, turn: Turn, live: Channel<Event>): Promise<Outcome> {
  const { files: _, sent: __, ...own } = turn
  const fresh = { ...own, prompt: task, history: [], attempts: [], steered: [] }
  return drain(consult(agent, role, fresh, turn.leash), (event) => live.push(event))
}

/** Returns the result for a tool that may not run; undefined if it may. */
async function refusal(tool: Tool, input: unknown, turn: Turn, judged: PolicyDecision): Promise<Result | undefined> {
  const { verdict, why, grants, prefix, granted, shows, answered, rule } = judged
  if (verdict === 'yes') return undefined
  const denied = `${tool.name}: ${JSON.stringify(input)}`
  if (verdict === 'no')
    return no(`${tool.name} was not allowed: ${why}. Go on without it, or say what you need and why.`, denied)
  const options = consentOptions({
    once: { id: 'once', label: 'Yes, once' },
    always: grants && { id: 'always', label: 'Yes, always in this project', grants: grants.join(', ') },
    no: { id: 'no', label: 'No' },
    others:
      prefix === undefined
        ? []
        : [{ id: 'prefix', label: 'Yes, always in this project, also with other arguments', grants: prefix }],
  })
  const text = shows ? `${tool.name}: ${why}` : `${tool.name}: ${JSON.stringify(input)}\n${why}`
  const question: Question = defined({ about: 'permission', text, from: [], shows, options })
  const picks = await turn.ask(question, turn.signal)
  const consent = consentIn(picks)
  const rules = picks?.includes('prefix') && prefix !== undefined ? [prefix] : (grants ?? [])
  await answered?.(consent, consent === 'always' ? rules : [])
  if (consent === 'always') await granted?.(rules)
  if (consent === 'once' || consent === 'always') return undefined
  const again = 'Do not try it again in this turn.'
  // A person's no is final. If nobody could be asked, a person may still allow it another time: that counts as a denial.
  return consent === 'no'
    ? { ...no(`${tool.name} was refused: the person said no. ${again}`), data: { refused: denied } }
    : no(`${tool.name} was refused: ${why}, and nobody was there to say yes. ${again}${ruleWords(rule)}`, denied, rule)
}

const ruleWords = (rule: string | undefined): string =>
  rule === undefined
    ? ''
    : ` The rule ${rule} among permissions.allow in the user's settings, or with --allow, would allow it.`

/** Says whether a tool did not run because it was not allowed. */
export function isForbidden({ ok, data }: Result): boolean {
  return !ok && typeof data === 'object' && data !== null && ('denied' in data || 'refused' in data)
}

function consentIn(picks: string[] | undefined): Consent {
  if (!picks) return 'nobody'
  if (picks.includes('always') || picks.includes('prefix')) return 'always'
  return picks.includes('once') ? 'once' : 'no'
}

/** `denied` names the call that was not allowed, so that a person can allow it later, and `rule` the rule that would allow it. */
const no = (text: string, denied?: string, rule?: string): Result => ({
  ok: false,
  text,
  ...(denied !== undefined && { data: defined({ denied, rule }) }),
})

function words(error: unknown): string {
  const text = messageOf(error)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
