import type { Leash } from '../../core/work/agent.ts'
import type { Policy, PolicyDecision } from '../../core/work/policy.ts'
import type { Shown } from '../../core/talk/question.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { ProjectBounds } from '../path-location.ts'
import type { Part } from '../shell/shell-judgement.ts'
import type { JudgedCall } from './judged-call.ts'
import type { Mode } from './permission-modes.ts'
import type { Rule, RuleSet } from './permission-rule.ts'
import type { WallFacts } from './command-place.ts'
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isPlanTool } from '../../core/work/tool.ts'
import { isHeld, placeOf } from './command-place.ts'
import { judgeCall } from './judged-call.ts'
import { isFree } from './permission-modes.ts'
import { answeredRule, parseRule } from './permission-rule.ts'
import { allows, concerns, isAbout } from './rule-matching.ts'
import { grantOffers } from './granted-rules.ts'
import { defined } from '../../base/defined.ts'
import { dangerousParts, marksOf } from '../shell/danger-marks.ts'

export type PolicyParts = {
  /** The project. */
  root: string
  home: string
  /** The PATH of the shell that runs commands. */
  path?: string | undefined
  mode(): Mode
  /** The rules as they are now, with those that were remembered. */
  rules(): RuleSet | Promise<RuleSet>
  /** All tools of the agent, also those that plan mode or a subagent leaves out: a rule may name any of them. */
  tools: readonly Tool[]
  /** The folders that the person added to the project, as they are now. */
  added?(): readonly string[]
  /** Folders outside the project that may be read like it: long outputs, skills. */
  readable?: readonly string[]
  /** The wall that commands of a leash run behind; undefined where none stands. */
  wall?(leash: Leash): Promise<WallFacts | undefined>
  /** Called with each judged call before it is decided: where a command runs follows from the same judgement. */
  judged?(input: unknown, call: JudgedCall): void
  /** Limits beyond the rules, such as those of a subagent's file; they only narrow. */
  limits?: readonly CallLimit[]
  /** Keeps a rule that a person answered "always" to. */
  remember?(rule: string): Promise<void> | void
}

/**
 * A list of the calls that a command or a subagent is made for. Any other call that would run without a question is asked about,
 * unless it only reads. `others`: whether that also holds for tools that no rule of the list names.
 */
export type CallLimit = { who: string; rules: readonly Rule[]; others: 'asked' | 'free' }

/** Reads the list of a file; entries that are no rules are left out, so that they allow nothing. */
export function callLimit(who: string, texts: readonly string[], others: CallLimit['others']): CallLimit {
  const rules = texts.map(parseRule).filter((rule) => !('fault' in rule))
  return { who, rules: rules as Rule[], others }
}

/** Decides by the leash, the mode, the rules and the effect of a call: deny comes before ask, ask before allow. */
export function policy(parts: PolicyParts): Policy {
  let found: Promise<ProjectBounds> | undefined
  return async (tool, input, turn) => {
    // Read for each call: a folder that the person takes back during the turn counts no more.
    const bounds = { ...(await (found ??= boundsOf(parts))), added: parts.added?.() }
    const call = await judgeCall(tool, input, { ...bounds, cwd: turn.cwd })
    parts.judged?.(input, call)
    const rules = await parts.rules()
    const { leash } = turn
    const wall = call.walled ? await parts.wall?.(leash) : undefined
    const mode = parts.mode()
    const { terms } = turn
    const limits = [
      ...(parts.limits ?? []),
      ...(terms?.tools ? [callLimit(`The command /${terms.command}`, terms.tools, 'asked')] : []),
    ]
    const known = { tool, input, call, bounds, leash, wall, mode, limits, tools: parts.tools }
    const verdict = decide({ ...known, rules })
    const places = call.accesses
    if (verdict.verdict !== 'ask') return defined({ verdict: verdict.verdict, why: verdict.why, places })
    const leaves = wall && placeOf({ parts: call.parts, leash, bounds, facts: wall }).outside !== undefined
    const why = leaves ? `${verdict.why}; it would run outside the sandbox` : verdict.why
    const { asking = [], ...decision } = verdict
    const question = { ...decision, why, places, shows: shownOf(tool, input, turn.cwd, asking) }
    const { exact, prefix } = grantOffers(call, bounds)
    // A beginning is offered only where it would be enough for this very call.
    const enough = prefix !== undefined && isEnough(prefix)
    return defined({ ...question, grants: exact, prefix: enough ? prefix : undefined, granted: exact && grant })

    function isEnough(text: string): boolean {
      const more = answeredRule(text)
      if (!more) return false
      const wider = { ...rules, ask: [], allow: [...rules.allow, more] }
      return decide({ ...known, rules: wider }).verdict === 'yes'
    }
  }

  async function grant(texts: readonly string[]): Promise<void> {
    for (const text of texts) await parts.remember?.(text)
  }
}

type Case = {
  tool: Tool
  input: unknown
  call: JudgedCall
  bounds: ProjectBounds
  leash: Leash
  wall: WallFacts | undefined
  mode: Mode
  rules: RuleSet
  limits: readonly CallLimit[]
  tools: readonly Tool[]
}

/** `asking`: the parts of the call that made a question necessary. */
type Verdict = Pick<PolicyDecision, 'verdict' | 'why'> & { asking?: readonly Part[] }

function decide({ tool, input, call, bounds, leash, wall, mode, rules, limits, tools }: Case): Verdict {
  const firstAbout = (list: readonly Rule[]) => list.find((rule) => concerns(rule, call, input, bounds, tools))
  const denying = firstAbout(rules.deny)
  if (denying) return { verdict: 'no', why: `the rule ${denying.text} denies it` }
  if (mode === 'plan' && !isPlanTool(tool)) return { verdict: 'no', why: 'plan mode changes nothing and runs nothing' }
  const isWalled = (part: Part) => wall !== undefined && isHeld(part, leash === 'read' ? 'read' : 'edit', bounds, wall)
  if (leash === 'read' && tool.risk !== 'read') {
    const acts = call.parts.filter((part) => part.class !== 'reads' && !isWalled(part))
    if (acts.length > 0) return { verdict: 'no', why: readingWords(acts, call, wall) }
  }
  const ask = (why: string, asking: readonly Part[]): Verdict =>
    mode === 'dontAsk'
      ? { verdict: 'no', why: `${why}, and this permission mode never asks` }
      : { verdict: 'ask', why, asking }
  const notAllowed = (list: readonly Rule[]) =>
    call.parts.filter((part) => !list.some((rule) => allows(rule, part, call, input, bounds)))
  if (notAllowed(rules.spared).length === 0) return { verdict: 'yes', why: 'a rule of this run allows it' }
  const asking = firstAbout(rules.ask)
  if (asking) return ask(`the rule ${asking.text} asks for your permission`, dangerousParts(call.parts))
  const left = notAllowed([...rules.spared, ...rules.allow, ...rules.outside])
  if (left.length === 0) return { verdict: 'yes', why: 'a rule allows it' }
  for (const { who, rules: named, others } of limits) {
    const beyond = left.filter((part) => {
      if (tool.risk === 'read' || part.class === 'reads') return false
      if (named.some((rule) => allows(rule, part, call, input, bounds))) return false
      return others === 'asked' || named.some((rule) => isAbout(rule, call))
    })
    if (beyond.length > 0) return ask(`${who} is made for ${named.map(({ text }) => text).join(', ')} alone`, beyond)
  }
  // A part that cannot be read may be what a deny rule with a pattern forbids, so the person is asked.
  const unreadable = left.find((part) => part.class === 'dynamic')
  if (unreadable && rules.deny.some((rule) => rule.spec !== undefined)) return ask(unreadable.why, [unreadable])
  // At `ask` the wall holds a command as well, but only after a yes.
  const notFree = left.filter((part) => !isFree(part.class, leash, mode) && !(leash !== 'ask' && isWalled(part)))
  if (notFree.length === 0) return { verdict: 'yes', why: call.worst.why }
  const secret = notFree.find((part) => part.class === 'secrets')
  if (leash === 'read' && secret)
    return { verdict: 'no', why: `${secret.why}, and this agent may only read other files` }
  return ask(reasons(notFree, call), notFree)
}

/** Why a command is refused to an agent that may only look. */
function readingWords(parts: readonly Part[], call: JudgedCall, wall: WallFacts | undefined): string {
  const why = reasons(parts, call)
  const [first] = parts
  const dark = first?.class === 'dynamic' || first?.class === 'unknown'
  if (call.walled && dark && !wall)
    return `this agent may only read, termaite cannot judge the command (${why}), and there is no sandbox to run it in`
  return `this agent may only read, and ${why}`
}

/** Up to three reasons, the worst first, each once. */
function reasons(parts: readonly Part[], call: JudgedCall): string {
  const worst = parts.filter((part) => part.why === call.worst.why).slice(0, 1)
  return [...new Set([...worst, ...parts].map(({ why }) => why))].slice(0, 3).join('; ')
}

async function boundsOf({ root, home, path, readable = [] }: PolicyParts): Promise<ProjectBounds> {
  const real = (path: string) => realpath(path).catch(() => path)
  return { root: await real(root), home, path, readable: await Promise.all(readable.map(real)) }
}

/** The parts of a call that a person sees before saying yes: the command, the code, the change, or else the whole input. */
function shownOf(tool: Tool, input: unknown, cwd: string, asking: readonly Part[]): Shown[] {
  const { command, code, file_path: path, content, edits } = (input ?? {}) as Record<string, unknown>
  if (typeof command === 'string')
    return [defined<Shown>({ type: 'command', command, cwd, marks: marksOf(command, asking) })]
  if (typeof code === 'string') return [{ type: 'command', command: code, cwd }]
  const dangers = dangerousParts(asking)
  if (tool.shows) {
    const dangerAt = (path: string) => dangers.find((part) => part.text === resolve(cwd, path))?.why
    return tool
      .shows(input)
      .map((shown) => (shown.type === 'diff' ? defined<Shown>({ ...shown, danger: dangerAt(shown.path) }) : shown))
  }
  const danger = dangers[0]?.why
  if (typeof path === 'string' && typeof content === 'string')
    return [defined<Shown>({ type: 'diff', path, after: content, danger })]
  if (typeof path === 'string' && Array.isArray(edits) && edits.every(isEdit))
    return edits.map(({ old_string: before, new_string: after }) =>
      defined<Shown>({ type: 'diff', path, before, after, danger }),
    )
  return [{ type: 'text', text: `${tool.name} ${JSON.stringify(input, undefined, 2)}` }]
}

function isEdit(edit: unknown): edit is { old_string: string; new_string: string } {
  const { old_string: before, new_string: after } = (edit ?? {}) as Record<string, unknown>
  return typeof before === 'string' && typeof after === 'string'
}
