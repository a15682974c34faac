import { defined } from '../../base/defined.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Policy } from '../../core/work/policy.ts'
import type { Mode } from '../../safety/rules/permission-modes.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { policy } from '../../safety/rules/permission-policy.ts'
import { rulesOf } from '../../settings/permissions.ts'
import { withHooks } from './native-hooks.ts'
import { wallFacts } from './native-sandbox.ts'
import { Audit } from '../../safety/audit-log.ts'

/** Makes the policy of our own agent: the rules of the settings, and those that the person said "always" to in this project. */
export async function policyFor(
  seat: NativeSeat,
  tools: readonly Tool[],
  readable: readonly string[],
  parts: NativeParts,
): Promise<Policy> {
  const { root, env, home, project } = parts
  const { permissions } = seat.settings
  const rules = rulesOf(permissions, await project.read())
  const held = policy({
    root,
    home: env.HOME ?? home,
    path: env.PATH,
    mode: () => modeOf(seat),
    rules: () => rules,
    tools,
    readable,
    judged(input, call) {
      if (typeof input === 'object' && input !== null) parts.state.judged.set(input, call)
    },
    wall: (leash) => wallFacts({ ...seat, leash }, tools, parts),
    async remember(rule) {
      await project.update((doc) => ({ ...doc, rules: [...new Set([...(doc.rules ?? []), rule])] }))
    },
  })
  return withAudit(withHooks(held, seat, parts), seat.agent.name, parts)
}

/** The permission mode: the leash `all` lifts the two usual modes, and a stricter mode stays as it is. */
export function modeOf({ leash, settings }: NativeSeat): Mode {
  const { mode } = settings.permissions
  return leash === 'all' && (mode === 'default' || mode === 'acceptEdits') ? 'bypass' : mode
}

const longest = 400

/** Records each refusal, each answer of the person before the call runs, and each run. */
export function withAudit(policy: Policy, by: string, parts: NativeParts): Policy {
  const audit = auditOf(parts)
  if (!audit) return policy
  return async (tool, input, turn) => {
    const judged = await policy(tool, input, turn)
    const what = parts.border.to('audit', JSON.stringify(judged.input ?? input) ?? '').slice(0, longest)
    const scene = { by, project: parts.root, session: parts.session, turn: turn.id }
    if (judged.verdict === 'no')
      await audit.record({ type: 'refusal', tool: tool.name, what, why: judged.why, ...scene })
    let verdict = `${judged.verdict}: ${judged.why}`
    return {
      ...judged,
      async answered(answer, rules) {
        verdict = answer
        const rule = rules.length > 0 ? rules.join(', ') : undefined
        await audit.record(defined({ type: 'approval', tool: tool.name, what, answer, rule, ...scene }))
      },
      ran: (ok) => note(parts, audit.note({ type: 'execution', tool: tool.name, what, ok, verdict, ...scene })),
    }
  }
}

/** The audit of this run; undefined where nothing is kept. */
export function auditOf({ audited, state, store, clock, border }: NativeParts): Audit | undefined {
  return audited ? (state.audit ??= new Audit(store, { clock, mask: border.toward('audit') })) : undefined
}

/** Writes a line in the background; the end of the turn waits for it. */
function note({ state }: NativeParts, line: Promise<void>): void {
  line.catch(() => {})
  state.lines.push(line)
}

/** Waits for the audit's lines; returns a note if one could not be written. */
export async function auditTrouble({ state }: NativeParts): Promise<string[]> {
  state.audit?.settle()
  const ends = await Promise.allSettled(state.lines.splice(0))
  const [first] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
  return first ? [`the audit could not record what was done: ${first.message}`] : []
}
