import type { Policy } from '../src/core/work/policy.ts'

/** The policy that knows only the leash: reading is allowed, the rest is allowed, asked for or refused. */
export const leashPolicy: Policy = async (tool, _input, turn) => {
  if (tool.risk === 'read' || turn.leash === 'all') return { verdict: 'yes', why: 'the leash allows it' }
  if (turn.leash === 'read') return { verdict: 'no', why: 'this agent may only read' }
  if (turn.leash === 'edit' && tool.risk === 'write') return { verdict: 'yes', why: 'the leash allows edits' }
  return { verdict: 'ask', why: `${tool.name} changes something` }
}
