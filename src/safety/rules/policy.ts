import { realpath } from 'node:fs/promises'
import type { Leash, Turn } from '../../core/work/agent.ts'
import type { Policy, PolicyDecision } from '../../core/work/policy.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Ground } from '../places.ts'
import type { Part } from '../shell/judgement.ts'
import type { Act, ActWorld } from './act.ts'
import { actOf } from './act.ts'
import { escaped } from './glob.ts'
import { allows, concerns, namedAt } from './match.ts'
import type { Mode } from './modes.ts'
import { isFree } from './modes.ts'
import type { Rule, RuleSet } from './rule.ts'
import { parseRule } from './rule.ts'
import { shownOf } from './shown.ts'

export type PolicyParts = {
  /** The project. */
  root: string
  home: string
  mode(): Mode
  rules(): RuleSet
  pathsOf: ActWorld['pathsOf']
  nameOf?: ActWorld['nameOf']
  /** Folders that may be looked at as the project may: long outputs, skills. */
  readable?: readonly string[]
  /** Keeps a rule that a person said "always" to. */
  remember?(rule: string): Promise<void> | void
}

/** The leash, the mode, the rules and what a call is found to do, as one answer: deny before ask before allow. */
export function policy(parts: PolicyParts): Policy {
  const granted: Rule[] = []
  let ground: Promise<Ground> | undefined
  return async (tool, input, turn) => {
    const world = await (ground ??= groundOf(parts))
    const act = await actOf(tool, input, {
      ...world,
      cwd: turn.cwd,
      pathsOf: parts.pathsOf,
      ...(parts.nameOf ? { nameOf: parts.nameOf } : {}),
    })
    const rules = parts.rules()
    const verdict = judged({
      tool,
      input,
      act,
      ground: world,
      leash: turn.leash,
      mode: parts.mode(),
      rules: { ...rules, allow: [...rules.allow, ...granted] },
    })
    return verdict.verdict === 'ask' ? asked(verdict, tool, input, turn, act, world, grant) : verdict
  }

  async function grant(text: string): Promise<void> {
    const rule = parseRule(text)
    if (!('fault' in rule)) granted.push(rule)
    await parts.remember?.(text)
  }
}

/** Tools that hand work to somebody else: planning is done by whoever plans. */
const delegating = new Set(['subagent', 'send_notification'])

type Case = { tool: Tool; input: unknown; act: Act; ground: Ground; leash: Leash; mode: Mode; rules: RuleSet }

function judged({ tool, input, act, ground, leash, mode, rules }: Case): PolicyDecision {
  const about = (list: readonly Rule[]) => list.find((rule) => concerns(rule, act, input, ground))
  const denied = about(rules.deny)
  if (denied) return { verdict: 'no', why: `the rule ${denied.text} denies it` }
  if (mode === 'plan' && (tool.risk !== 'read' || delegating.has(tool.name)))
    return { verdict: 'no', why: 'plan mode changes nothing and runs nothing' }
  if (leash === 'read' && tool.risk !== 'read' && act.worst.class !== 'reads')
    return { verdict: 'no', why: 'this agent may only look' }
  const ask = (why: string): PolicyDecision =>
    mode === 'dontAsk' ? { verdict: 'no', why: `${why}, and this mode asks nobody` } : { verdict: 'ask', why }
  const without = (list: readonly Rule[]) =>
    act.parts.filter((part) => !list.some((rule) => allows(rule, part, act, input, ground)))
  if (without(rules.spared).length === 0) return { verdict: 'yes', why: 'a rule of this run allows it' }
  const wanted = about(rules.ask)
  if (wanted) return ask(`the rule ${wanted.text} wants it asked`)
  const left = without([...rules.spared, ...rules.allow])
  if (left.length === 0) return { verdict: 'yes', why: 'a rule allows it' }
  // What cannot be read might be what a rule forbids.
  const dark = left.find((part) => part.class === 'dynamic')
  if (dark && rules.deny.some((rule) => rule.spec !== undefined)) return ask(dark.why)
  const held = left.filter((part) => !isFree(part.class, leash, mode))
  if (held.length === 0) return { verdict: 'yes', why: act.worst.why }
  return ask(whyOf(held, act))
}

/** The reasons, the worst first, each once. */
function whyOf(held: readonly Part[], act: Act): string {
  const worst = held.find((part) => part.why === act.worst.why) ?? held[0]!
  return [...new Set([worst, ...held].map(({ why }) => why))].slice(0, 3).join('; ')
}

function asked(
  { why }: PolicyDecision,
  tool: Tool,
  input: unknown,
  turn: Turn,
  act: Act,
  ground: Ground,
  grant: (rule: string) => Promise<void>,
): PolicyDecision {
  const rule = narrowest(act, ground)
  return {
    verdict: 'ask',
    why,
    shows: shownOf(tool, input, turn.cwd),
    ...(rule === undefined ? {} : { grants: rule, granted: () => grant(rule) }),
  }
}

/** The rule that allows this and nothing else; none for what is only known when it runs, or does not come back. */
function narrowest(act: Act, ground: Ground): string | undefined {
  if (act.parts.some((part) => part.class === 'dynamic' || part.class === 'destructive')) return undefined
  if (act.command !== undefined) return `${act.name}(${escaped(act.command.trim())})`
  if (act.host !== undefined) return `${act.name}(domain:${escaped(act.host)})`
  const [path, ...more] = act.parts.flatMap((part) => part.paths)
  if (path) return more.length > 0 ? undefined : `${act.name}(${escaped(namedAt(path.real, ground))})`
  return act.name
}

async function groundOf({ root, home, readable = [] }: PolicyParts): Promise<Ground> {
  const real = (path: string) => realpath(path).catch(() => path)
  return { root: await real(root), home, readable: await Promise.all(readable.map(real)) }
}
