import type { RuleSet } from '../safety/rules/permission-rule.ts'
import type { Mode } from '../safety/rules/permission-modes.ts'
import { answeredRule, parseRules } from '../safety/rules/permission-rule.ts'
import { UsageError } from '../core/io.ts'

type Lists = Readonly<Record<'allow' | 'ask' | 'deny', readonly string[]>>

/** The native agent's permission rules: the user's own, those of this run, and those of a trusted project. */
export type Permissions = Lists & {
  mode: Mode
  run: Pick<Lists, 'allow' | 'deny'>
  project: Pick<Lists, 'ask' | 'deny'>
}

/**
 * Joins the rules of the settings, which were checked with their file, and those of this run. Throws if a rule of this run
 * cannot be parsed, because such a rule would restrict nothing.
 */
export function permissionsOf(
  said: Partial<Lists & { mode: Mode }> = {},
  { allow = [], deny = [] }: Partial<Permissions['run']> = {},
): Permissions {
  const { faults } = parseRules({ allow, deny })
  if (faults.length > 0) throw new UsageError(`${faults.map((fault) => `--${fault}`).join('; ')}.`)
  return {
    mode: 'default',
    allow: [],
    ask: [],
    deny: [],
    ...said,
    run: { allow, deny },
    project: { ask: [], deny: [] },
  }
}

/** The rules that come from a person's answers in a project; those of `outside` let a command run outside the sandbox. */
export type KeptRules = { rules?: readonly string[]; outside?: readonly string[] }

/** Joins all rules for the policy, including those that the user answered with "always". */
export function rulesOf({ allow, ask, deny, run, project }: Permissions, kept: KeptRules = {}): RuleSet {
  const { rules } = parseRules({
    deny: [...run.deny, ...deny, ...project.deny],
    spared: run.allow,
    ask: [...ask, ...project.ask],
    allow,
    outside: kept.outside ?? [],
  })
  const answered = (kept.rules ?? []).map(answeredRule).filter((rule) => rule !== undefined)
  return { ...rules, allow: [...rules.allow, ...answered] }
}

/** The modes from the strictest to the loosest. */
const strictness: readonly Mode[] = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypass']

/** Adds a project's rules, which can restrict but never allow. */
export function tightenPermissions(
  permissions: Permissions,
  { mode = 'bypass', ask = [], deny = [] }: Partial<Lists & { mode: Mode }>,
): Permissions {
  const held = strictness.find((one) => one === mode || one === permissions.mode)!
  return { ...permissions, mode: held, project: { ask, deny } }
}
