import type { Tool } from '../../core/work/tool.ts'
import type { Policy } from '../../core/work/policy.ts'
import type { Mode } from '../../safety/rules/permission-modes.ts'
import type { NativeParts, NativeSeat } from './native-parts.ts'
import { policy } from '../../safety/rules/permission-policy.ts'
import { rulesOf } from '../../settings/permissions.ts'
import { withHooks } from './native-hooks.ts'
import { Audit } from '../../safety/audit.ts'

/** What our own agent is held by: the rules of the settings, and what was said "always" to in this project. */
export async function policyFor(
  seat: NativeSeat,
  tools: readonly Tool[],
  readable: readonly string[],
  parts: NativeParts,
): Promise<Policy> {
  const { root, env, home, project } = parts
  const { permissions } = seat.settings
  const kept = (await project.read()).rules ?? []
  const rules = rulesOf(permissions, kept)
  const held = policy({
    root,
    home: env.HOME ?? home,
    mode: () => modeOf(seat),
    rules: () => rules,
    tools,
    readable,
    remember: async (rule) =>
      void (await project.update((doc) => ({ ...doc, rules: [...new Set([...(doc.rules ?? []), rule])] }))),
  })
  return withAudit(withHooks(held, seat, parts), seat.agent.name, parts)
}

/** Whoever gives the whole leash means it; a mode that was chosen to be stricter stays so. */
export function modeOf({ leash, settings }: NativeSeat): Mode {
  const { mode } = settings.permissions
  return leash === 'all' && (mode === 'default' || mode === 'acceptEdits') ? 'bypass' : mode
}

const longest = 400

/** What may run is written down: who was asked and what was said before it runs, and that it ran; what a rule refuses is, too. */
export function withAudit(policy: Policy, by: string, parts: NativeParts): Policy {
  const audit = auditOf(parts)
  if (!audit) return policy
  return async (tool, input, turn) => {
    const judged = await policy(tool, input, turn)
    const what = parts.mask(JSON.stringify(judged.input ?? input) ?? '').slice(0, longest)
    const scene = { by, project: parts.root, session: parts.session, turn: turn.id }
    if (judged.verdict === 'no')
      await audit.record({ type: 'refusal', tool: tool.name, what, why: judged.why, ...scene })
    let verdict = `${judged.verdict}: ${judged.why}`
    return {
      ...judged,
      async answered(answer) {
        verdict = answer
        const rule = answer === 'always' && judged.grants !== undefined ? { rule: judged.grants } : {}
        await audit.record({ type: 'approval', tool: tool.name, what, answer, ...rule, ...scene })
      },
      ran: (ok) => note(parts, audit.note({ type: 'execution', tool: tool.name, what, ok, verdict, ...scene })),
    }
  }
}

/** The book of this run; none where nothing is to be kept. */
export function auditOf({ audited, state, store, clock, mask }: NativeParts): Audit | undefined {
  return audited ? (state.audit ??= new Audit(store, { clock, mask })) : undefined
}

/** Nobody waits for a line about what is done; the end of the turn does. */
function note({ state }: NativeParts, line: Promise<void>): void {
  line.catch(() => {})
  state.lines.push(line)
}

/** Why what was done could not be written down, if it could not. */
export async function auditTrouble({ state }: NativeParts): Promise<string[]> {
  state.audit?.settle()
  const ends = await Promise.allSettled(state.lines.splice(0))
  const [first] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
  return first ? [`what was done is not in the audit: ${first.message}`] : []
}
