import type { RuleSet } from '../safety/rules/rule.ts'
import type { Mode } from '../safety/rules/modes.ts'
import { parseRules } from '../safety/rules/rule.ts'
import { UsageError } from '../core/io.ts'

type Lists = Readonly<Record<'allow' | 'ask' | 'deny', readonly string[]>>

/** What the native agent may do: the person's own rules, those of this run, and those of a project that is trusted. */
export type Permissions = Lists & {
  mode: Mode
  run: Pick<Lists, 'allow' | 'deny'>
  project: Pick<Lists, 'ask' | 'deny'>
}

/** A rule that cannot be read would hold nobody: it is said before anything runs. */
export function permissionsOf(
  said: Partial<Lists & { mode: Mode }> = {},
  { allow = [], deny = [] }: Partial<Permissions['run']> = {},
): Permissions {
  refuseFaults('settings: permissions.', said)
  refuseFaults('--', { allow, deny })
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

/** All of them as the policy has them, with what was said "always" to. */
export function rulesOf({ allow, ask, deny, run, project }: Permissions, kept: readonly string[] = []): RuleSet {
  return parseRules({
    deny: [...run.deny, ...deny, ...project.deny],
    spared: run.allow,
    ask: [...ask, ...project.ask],
    allow: [...allow, ...kept],
  }).rules
}

/** From what holds the most to what holds nothing. */
const strictness: readonly Mode[] = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypass']

/** With what a project adds, which is never an allowance. */
export function tightened(
  permissions: Permissions,
  { mode = 'bypass', ask = [], deny = [] }: Partial<Lists & { mode: Mode }>,
): Permissions {
  const held = strictness.find((one) => one === mode || one === permissions.mode)!
  return { ...permissions, mode: held, project: { ask, deny } }
}

export function refuseFaults(before: string, lists: Partial<Lists>): void {
  const { faults } = parseRules(lists)
  if (faults.length > 0) throw new UsageError(`${faults.map((fault) => before + fault).join('; ')}.`)
}
