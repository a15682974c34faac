import type { Shown } from '../talk/question.ts'
import type { Turn } from './agent.ts'
import type { Tool } from './tool.ts'

/**
 * `grants` is what a yes to "always" would cover, in words a rule can hold; `granted` is told when somebody says it.
 * `shows` is what a yes is given to, beside the words. `answered` and `ran` are told what came of it: the one before
 * it runs, the other after.
 */
export type PolicyDecision = {
  verdict: 'yes' | 'no' | 'ask'
  why: string
  grants?: string
  granted?(): Promise<void>
  shows?: Shown[]
  /** What it runs with instead of what was called for. */
  input?: unknown
  answered?(answer: Consent): Promise<void>
  ran?(ok: boolean): void
}

/** What was said to a question for leave. */
export type Consent = 'once' | 'always' | 'no' | 'nobody'

export type Policy = (tool: Tool, input: unknown, turn: Turn) => Promise<PolicyDecision>

/** The leash alone: reading is free, the rest is asked for or not. */
export const leashPolicy: Policy = async (tool, _input, turn) => {
  if (tool.risk === 'read' || turn.leash === 'all') return { verdict: 'yes', why: 'the leash allows it' }
  if (turn.leash === 'read') return { verdict: 'no', why: 'this agent may only look' }
  if (turn.leash === 'edit' && tool.risk === 'write') return { verdict: 'yes', why: 'the leash allows edits' }
  return { verdict: 'ask', why: `${tool.name} changes something` }
}
