import type { Ref } from '../talk/store.ts'
import type { Ask } from '../talk/question.ts'
import type { Outcome } from '../talk/outcome.ts'
import type { Agent } from './agent.ts'

export type Risk = 'read' | 'write' | 'run'

export type ToolCall = {
  cwd: string
  signal: AbortSignal
  ask: Ask
  /** Shown while it runs, kept nowhere. */
  progress(delta: string): void
  /** Hands a task to another agent, which sees nothing else of the turn, is held as tight and spends from the same purse. */
  consult(agent: Agent, role: string, task: string): Promise<Outcome>
  /** When whoever called stops waiting, in ms since 1970. */
  until: number
}

export type ToolOutput = string | { text: string; data?: unknown; files?: Ref[] }

/** Anything a model can call. `parse` throws words that say what to send instead; `run` may throw, and is told of it in words. */
export interface Tool<I = unknown> {
  name: string
  description: string
  schema: Record<string, unknown>
  /** The shape of its result's `data`, which every good result has then. */
  output?: Record<string, unknown>
  risk: Risk
  /** Nothing of the same step runs beside it or, if it asks the person, after it. */
  alone?: boolean
  parse(input: unknown): I
  run(input: I, call: ToolCall): Promise<ToolOutput>
}

export type Result = { ok: boolean; text: string; data?: unknown; files?: Ref[] }
