import type { Shown } from '../talk/question.ts'
import type { Turn } from './agent.ts'
import type { CheckedPlace, Tool } from './tool.ts'

/** Whether a tool may run with an input, and why. */
export type PolicyDecision = {
  verdict: 'yes' | 'no' | 'ask'
  why: string
  /** The rules that "always" would add for exactly this call. */
  grants?: readonly string[]
  /** The rule that "always" would add for every command that begins like this one. */
  prefix?: string
  /** Called with the rules that the person has allowed. */
  granted?(rules: readonly string[]): Promise<void>
  /** The rule in the settings that would have allowed the call without a question. */
  rule?: string
  /** Whether only the person's own yes lets the tool run, so that no hook can allow it. */
  personal?: true
  /** The command, change or text for the question to the person. */
  shows?: Shown[]
  /** The input to use instead of the one in the call. */
  input?: unknown
  /** The targets of the links in the paths of the call: the verdict only applies to these places. */
  places?: readonly CheckedPlace[]
  /** Called with the person's answer and the rules that it allows, before the tool runs. */
  answered?(answer: Consent, rules: readonly string[]): Promise<void>
  /** Called when everything is decided, before the tool runs. If this throws, the tool does not run. */
  begins?(): Promise<void>
  /** Called after the tool has run. */
  ran?(ok: boolean): void
}

/** The answer to a question for permission; `nobody`: no person was there. */
export type Consent = 'once' | 'always' | 'no' | 'nobody'

export type Policy = (tool: Tool, input: unknown, turn: Turn) => Promise<PolicyDecision>
