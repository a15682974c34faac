import type { Policy } from '../core/work/policy.ts'
import type { BegunAct } from '../safety/audit-log.ts'
import type { HookEvent } from '../safety/hooks/hook-config.ts'
import type { HookParts } from '../safety/hooks/hook-run.ts'
import type { NativeParts, WithState } from './native-parts.ts'
import { defined } from '../base/defined.ts'
import { messageOf } from '../base/error-message.ts'
import { Audit } from '../safety/audit-log.ts'

const longest = 400

/**
 * Records each refusal, each answer of the person, and each run, before and after the call runs. A call that cannot be recorded first
 * does not run, unless it only reads.
 */
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
    let begun: BegunAct | undefined
    return {
      ...judged,
      async answered(answer, rules) {
        verdict = answer
        const rule = rules.length > 0 ? rules.join(', ') : undefined
        await audit.record(defined({ type: 'approval', tool: tool.name, what, answer, rule, ...scene }))
      },
      async begins() {
        const recorded = audit.begin({ tool: tool.name, what, verdict, ...scene })
        if (tool.risk === 'read') note(parts, recorded)
        begun = await recorded.catch((error) => {
          if (tool.risk === 'read') return undefined
          throw new Error(`it did not run, because the audit cannot record it: ${messageOf(error)}`, { cause: error })
        })
      },
      ran(ok) {
        if (begun) note(parts, begun.end(ok))
      },
    }
  }
}

/** Records a hook before it runs and after it. A hook that cannot be recorded first does not run. */
export function hookRecord(event: HookEvent, parts: NativeParts): HookParts['record'] {
  const audit = auditOf(parts)
  if (!audit) return undefined
  return ({ command, project }) => programRecord(audit, 'hook', `${event}: ${command}`, project === true, parts)
}

/** Records a formatter before it runs; returns the function that records how it ended; undefined if the run stores nothing. */
export async function formatterRecord(
  command: string,
  project: boolean,
  parts: NativeParts,
): Promise<((ok: boolean) => void) | undefined> {
  const audit = auditOf(parts)
  return audit && programRecord(audit, 'formatter', command, project, parts)
}

async function programRecord(
  audit: Audit,
  tool: 'hook' | 'formatter',
  command: string,
  project: boolean,
  parts: NativeParts,
): Promise<(ok: boolean) => void> {
  const what = parts.border.to('audit', command).slice(0, longest)
  const verdict = `yes: this ${tool} is in ${project ? 'the trusted project' : 'the settings'}`
  const begun = await audit.begin({ tool, what, verdict, project: parts.root, session: parts.session })
  return (ok) => note(parts, begun.end(ok))
}

/** The audit of this run; undefined if the run stores nothing. */
export function auditOf({ audited, state, store, clock, border }: NativeParts): Audit | undefined {
  return audited ? (state.audit.log ??= new Audit(store, { clock, mask: border.toward('audit') })) : undefined
}

/** Writes a line in the background; the end of the turn waits for it. */
function note({ state }: WithState<'audit'>, line: Promise<unknown>): void {
  line.catch(() => {})
  state.audit.lines.push(line)
}

/** Waits for the audit's lines; returns a note if one could not be written. */
export async function auditTrouble({ state }: WithState<'audit'>): Promise<string[]> {
  const ends = await Promise.allSettled([...state.audit.lines.splice(0), state.audit.log?.settle()])
  const [first] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []))
  return first ? [`the audit could not record what was done: ${first.message}`] : []
}
