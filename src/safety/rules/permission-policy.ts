import type { Leash } from '../../core/work/agent.ts'
import type { Policy, PolicyDecision } from '../../core/work/policy.ts'
import type { Shown } from '../../core/talk/question.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { ProjectBounds } from '../path-location.ts'
import type { Part } from '../shell/shell-judgement.ts'
import type { JudgedCall } from './judged-call.ts'
import type { Mode } from './permission-modes.ts'
import type { Rule, RuleSet } from './permission-rule.ts'
import type { Beyond, CommandPlace, NoWall, Permission, WallFacts } from './command-place.ts'
import type { PlainReader } from './plain-readers.ts'
import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isPlanTool } from '../../core/work/tool.ts'
import { beyondOf, isHeld, placeOf } from './command-place.ts'
import { judgeCall } from './judged-call.ts'
import { isFree } from './permission-modes.ts'
import { answeredRule, parseRule } from './permission-rule.ts'
import { allows, concerns, isAbout, isWhole } from './rule-matching.ts'
import { grantOffers, wholeRule } from './granted-rules.ts'
import { defined } from '../../base/defined.ts'
import { dangerousParts, marksOf } from '../shell/judge/danger-marks.ts'

export type PolicyParts = {
  /** The project. */
  root: string
  home: string
  /** The PATH of the shell that runs commands. */
  path?: string | undefined
  mode(): Mode
  /** The present rules, including remembered ones. */
  rules(): RuleSet | Promise<RuleSet>
  /** All tools of the agent, including those that plan mode or a subagent leaves out: a rule may name any of them. */
  tools: readonly Tool[]
  /** The folders that are added to the project now. */
  added?(): readonly string[]
  /** Folders outside the project that may be read like it: long outputs, skills. */
  readable?: readonly string[]
  /** The wall behind which commands of a leash run, or the reason why they have no wall; undefined if the leash needs no wall. */
  wall?(leash: Leash): Promise<WallFacts | NoWall | undefined>
  /** Whether the person does not know yet, in this session, why commands without a wall need a question. */
  untold?(): boolean
  /** Called with each judged call; `place` is where its command runs, if it may run. */
  judged?(input: unknown, call: JudgedCall, place: CommandPlace | undefined): void
  /** Limits in addition to the rules, such as those in a subagent's file; they only narrow. */
  limits?: readonly CallLimit[]
  /** Stores a rule to which a person answered "always"; `outside`: its command runs outside the wall. */
  remember?(rule: string, outside: boolean): Promise<void> | void
}

/**
 * A list of the calls for which a command or a subagent is made. Any other call that would run without a question needs a yes, unless it
 * only reads. `others`: whether that also applies to tools that no rule of the list names.
 */
export type CallLimit = { who: string; rules: readonly Rule[]; others: 'asked' | 'free' }

/** Parses the list in a file; entries that are not rules are left out, so that they allow nothing. */
export function callLimit(who: string, texts: readonly string[], others: CallLimit['others']): CallLimit {
  const rules = texts.map(parseRule).filter((rule) => !('fault' in rule))
  return { who, rules: rules as Rule[], others }
}

/** Decides by the leash, the mode, the rules and the effect of a call: deny comes before ask, ask before allow. */
export function policy(parts: PolicyParts): Policy {
  let found: Promise<ProjectBounds> | undefined
  return async (tool, input, turn) => {
    // The folders are read for each call: a folder that the person removes during the turn no longer counts.
    const bounds = { ...(await (found ??= boundsOf(parts))), added: parts.added?.() }
    const call = await judgeCall(tool, input, { ...bounds, cwd: turn.cwd })
    const rules = await parts.rules()
    const { leash, terms } = turn
    const around = call.walled ? await wallAround(leash) : undefined
    const wall = around && 'none' in around ? undefined : around
    const mode = parts.mode()
    const limits = [
      ...(parts.limits ?? []),
      ...(terms?.tools ? [callLimit(`The command /${terms.command}`, terms.tools, 'asked')] : []),
    ]
    const bare = around && 'none' in around ? await bareCommand(around.none) : undefined
    const beyond = wall && leavingOf(call, beyondOf(call.parts, leash, bounds, wall), leash, wall)
    const known = { tool, input, call, bounds, leash, wall, bare, beyond, mode, limits, tools: parts.tools }
    const verdict = decide({ ...known, rules })
    parts.judged?.(input, call, placeFor(verdict))
    const places = call.accesses
    if (verdict.verdict !== 'ask') return defined({ verdict: verdict.verdict, why: verdict.why, places })
    const asksWhole = bare !== undefined || leaves(beyond)
    const why = [...(bare ? bareWords(bare.none) : []), verdict.why, ...leavingWords(beyond)].join('; ')
    const shows = shownOf(tool, input, turn.cwd, verdict.asking ?? [])
    const question = { verdict: verdict.verdict, why, places, shows, personal: asksWhole || undefined }
    // A rule cannot be granted for needs that only appear in a file, whose content may be different tomorrow.
    const { exact, prefix } = beyond && !beyond.written ? {} : grantOffers(call, bounds)
    const outside = call.outside !== undefined && beyond?.outside !== undefined
    // A beginning is only offered if it would be enough for this very call.
    const enough = prefix !== undefined && !outside && isEnough(prefix)
    const granted = exact && ((texts: readonly string[]) => grant(texts, outside))
    const whole = asksWhole && tool.isShell ? wholeRule(call) : undefined
    const rule = whole !== undefined && isEnough(whole, rules.ask) ? whole : undefined
    return defined({ ...question, grants: exact, prefix: enough ? prefix : undefined, granted, rule })

    function isEnough(text: string, ask: RuleSet['ask'] = []): boolean {
      const more = answeredRule(text)
      if (!more) return false
      return decide({ ...known, rules: { ...rules, ask, allow: [...rules.allow, more] } }).verdict === 'yes'
    }

    function placeFor({ verdict: is, permission }: Verdict): CommandPlace | undefined {
      if (is === 'no' || !call.walled) return undefined
      if (bare) return is === 'yes' && bare.reader ? { reader: bare.reader } : { bare: true }
      return wall && placeOf(leash, wall, is === 'ask' ? (beyond ?? 'leash') : (permission ?? 'leash'))
    }

    /** A command without a wall around it, and the reader that may start it without a shell. */
    async function bareCommand(none: string): Promise<Bare> {
      if (call.command === undefined || !tool.isShell) return { none }
      const { plainReader } = await import('./plain-readers.ts')
      return { none, reader: await plainReader(call.command, { ...bounds, cwd: turn.cwd }) }
    }
  }

  async function wallAround(leash: Leash): Promise<WallFacts | NoWall | undefined> {
    const around = await parts.wall?.(leash)
    return around ?? (leash === 'all' ? undefined : { none: 'none was set up' })
  }

  /** The first question of a session says why there is no sandbox. */
  function bareWords(none: string): string[] {
    const reason = parts.untold?.() === false ? '' : ` (${none.replace(/\.$/, '')})`
    return [`there is no sandbox${reason}, so termaite asks before each command`]
  }

  async function grant(texts: readonly string[], outside: boolean): Promise<void> {
    for (const text of texts) await parts.remember?.(text, outside)
  }
}

/** A command without a wall: why it has no wall, and the reader that may start it without a shell. */
type Bare = { none: string; reader?: PlainReader | undefined }

/** The needs of a command, including the agent's own request to run outside. */
function leavingOf(call: JudgedCall, beyond: Beyond, leash: Leash, { network }: WallFacts): Beyond {
  if (call.outside === undefined || leash === 'read' || leash === 'all' || network === 'closed') return beyond
  return { ...beyond, outside: `the agent wants it outside the sandbox, because ${call.outside}` }
}

const leaves = (beyond: Beyond | undefined): boolean =>
  beyond !== undefined && (beyond.outside !== undefined || beyond.network === true || beyond.keys === true)

/** Says what a command could reach after a yes. */
function leavingWords(beyond: Beyond | undefined): string[] {
  if (beyond?.outside !== undefined)
    return ['the whole command would run outside the sandbox, where it can use your files, your keys and the network']
  return [
    ...(beyond?.network ? ['the whole command would have the network'] : []),
    ...(beyond?.keys ? ['the whole command would see the project’s files with keys'] : []),
  ]
}

type Case = {
  tool: Tool
  input: unknown
  call: JudgedCall
  bounds: ProjectBounds
  leash: Leash
  wall: WallFacts | undefined
  /** Set for a command that runs outside the sandbox although its leash requires the sandbox. */
  bare: Bare | undefined
  beyond: Beyond | undefined
  mode: Mode
  rules: RuleSet
  limits: readonly CallLimit[]
  tools: readonly Tool[]
}

/** `asking`: the parts of the call that made a question necessary; `permission`: the rights that a call without a question gets. */
type Verdict = Pick<PolicyDecision, 'verdict' | 'why'> & { asking?: readonly Part[]; permission?: Permission }

function decide(known: Case): Verdict {
  const { tool, input, call, bounds, leash, wall, bare, beyond, mode, rules, limits, tools } = known
  const firstAbout = (list: readonly Rule[]) => list.find((rule) => concerns(rule, call, input, bounds, tools))
  const denying = firstAbout(rules.deny)
  if (denying) return { verdict: 'no', why: `the rule ${denying.text} denies it` }
  if (mode === 'plan' && !isPlanTool(tool)) return { verdict: 'no', why: 'plan mode changes nothing and runs nothing' }
  if (bare && call.command === undefined) return { verdict: 'no', why: `it needs a sandbox, and ${bare.none}` }
  if (bare?.reader) return { verdict: 'yes', why: 'it only reads files of the project' }
  const isWalled = (part: Part) => wall !== undefined && isHeld(part, leash === 'read' ? 'read' : 'edit', bounds, wall)
  if (leash === 'read' && tool.risk !== 'read') {
    if (bare) return { verdict: 'no', why: bareReading(bare.none) }
    if (call.outside !== undefined) return { verdict: 'no', why: 'this agent may only read, and only in the sandbox' }
    const acts = call.parts.filter((part) => part.class !== 'reads' && !isWalled(part))
    if (acts.length > 0) return { verdict: 'no', why: `this agent may only read, and ${reasons(acts, call)}` }
  }
  const ask = (why: string, asking: readonly Part[]): Verdict =>
    mode === 'dontAsk'
      ? { verdict: 'no', why: `${why}, and this permission mode never asks` }
      : { verdict: 'ask', why, asking }
  const notAllowed = (list: readonly Rule[]) =>
    call.parts.filter((part) => !list.some((rule) => allows(rule, part, call, input, bounds)))
  // A rule for a beginning, or for every command, only applies inside the wall: leaving the wall needs a rule for the whole command.
  const covers = (list: readonly Rule[]) =>
    notAllowed(list).length === 0 &&
    ((bare === undefined && !leaves(beyond)) ||
      (beyond?.written !== false && call.outside === undefined && list.some((rule) => isWhole(rule, call))))
  if (covers(rules.spared))
    return { verdict: 'yes', why: 'a rule of this run allows it', permission: beyond ?? 'leash' }
  const asking = firstAbout(rules.ask)
  if (asking) return ask(`the rule ${asking.text} asks for your permission`, dangerousParts(call.parts))
  if (rules.outside.some((rule) => isWhole(rule, call))) {
    const outside = 'a rule of yours lets it run outside'
    return { verdict: 'yes', why: outside, permission: { outside, written: true } }
  }
  if (covers([...rules.spared, ...rules.allow]))
    return { verdict: 'yes', why: 'a rule allows it', permission: beyond ?? 'leash' }
  if (bare) return ask(bareReasons(call), dangerousParts(call.parts))
  if (beyond && leaves(beyond)) return ask(leavingReasons(call, beyond), leavingParts(call, bounds, leash, wall!))
  const left = notAllowed([...rules.spared, ...rules.allow])
  for (const { who, rules: named, others } of limits) {
    const beyond = left.filter((part) => {
      // A command that only reads is not limited by the list if a wall makes sure that it only reads.
      if (tool.risk === 'read' || (part.class === 'reads' && (wall !== undefined || call.command === undefined)))
        return false
      if (named.some((rule) => allows(rule, part, call, input, bounds))) return false
      return others === 'asked' || named.some((rule) => isAbout(rule, call))
    })
    if (beyond.length > 0) return ask(`${who} is made for ${named.map(({ text }) => text).join(', ')} alone`, beyond)
  }
  // A part that cannot be read may be something that a deny rule with a pattern forbids, so the person is asked.
  const unreadable = left.find((part) => part.class === 'dynamic')
  if (unreadable && rules.deny.some((rule) => rule.spec !== undefined)) return ask(unreadable.why, [unreadable])
  // At `ask` the wall contains a command as well, but the command needs a yes first.
  const notFree = left.filter((part) => !isFree(part.class, leash, mode) && !(leash !== 'ask' && isWalled(part)))
  if (notFree.length === 0) {
    const looks =
      (leash === 'ask' || limits.length > 0) && left.length > 0 && left.every((part) => part.class === 'reads')
    return { verdict: 'yes', why: call.worst.why, permission: looks ? 'look' : 'leash' }
  }
  const secret = notFree.find((part) => part.class === 'secrets')
  if (leash === 'read' && secret)
    return { verdict: 'no', why: `${secret.why}, and this agent may only read other files` }
  return ask(reasons(notFree, call), notFree)
}

/** Why no command runs at `read` without a wall. */
const bareReading = (none: string): string =>
  `this agent may only read, and without a sandbox termaite cannot restrict a command to that (${none.replace(/\.$/, '')}); file_reader, grep_search, glob and ls need no command`

/** Describes the likely effects of a command without a wall; parts that only read are left out if others do more. */
function bareReasons(call: JudgedCall): string {
  const acting = call.parts.filter((part) => part.class !== 'reads')
  const words = reasons(acting.length > 0 ? acting : call.parts, call)
  return call.worst.class === 'dynamic' ? words : `as far as termaite can tell, ${words}`
}

/** Why a command would leave the sandbox: the agent's own reason, and the needs of its parts. */
function leavingReasons(call: JudgedCall, beyond: Beyond): string {
  if (call.outside !== undefined && beyond.outside !== undefined) return beyond.outside
  const acting = call.parts.filter((part) => part.class !== 'reads')
  return beyond.outside ?? reasons(acting, call)
}

function leavingParts(call: JudgedCall, bounds: ProjectBounds, leash: Leash, wall: WallFacts): readonly Part[] {
  return call.parts.filter((part) => leaves(beyondOf([part], leash, bounds, wall)))
}

/** Up to three reasons, the worst first, without repetitions. */
function reasons(parts: readonly Part[], call: JudgedCall): string {
  const worst = parts.filter((part) => part.why === call.worst.why).slice(0, 1)
  return [...new Set([...worst, ...parts].map(({ why }) => why))].slice(0, 3).join('; ')
}

async function boundsOf({ root, home, path, readable = [] }: PolicyParts): Promise<ProjectBounds> {
  const real = (path: string) => realpath(path).catch(() => path)
  return { root: await real(root), home, path, readable: await Promise.all(readable.map(real)) }
}

/** The content of a call that a person sees before they agree: the command, the code, the change, or otherwise the whole input. */
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
