import type { Framework } from '../core/talk/framework.ts'
import type { Agent, Turn } from '../core/work/agent.ts'
import type { Agreement } from './cost-consent.ts'
import type { LabelPause } from './label-pause.ts'
import type { FrameworkDefinition } from './framework-agent.ts'
import type { Resources } from './resources.ts'
import { messageOf } from '../base/error-message.ts'

/** One call of the tool `think`. */
export type AdviceRequest = { framework: Exclude<Framework, 'direct'>; question: string }

/** Thinks a question through and returns the advice as text; rejects with a message that tells the caller how to continue. */
export type AdviceAsk = (request: AdviceRequest, signal?: AbortSignal) => Promise<string>

/** The parts that thinking in a turn needs; the person may have agreed to its cost before. */
export type ThinkingParts = Agreement & {
  /** A framework that the person chose, or the one that the request needs. */
  how: 'auto' | Framework
  /** The machine's capabilities as text, as far as they are known without a scan. */
  machine(): Promise<string>
  /** Opens our own agent for one short request to choose a framework; undefined without an own agent. */
  openLabeller(): Promise<Agent | undefined>
  /** The agent that chooses frameworks is not asked while it is too slow. */
  labelPause: LabelPause
  /** Resolves when the snapshot from before the turn is taken; the label is requested meanwhile. Without it there is no such wait. */
  snapshotTaken?: Promise<unknown>
  /** Resolves to true if the person does not know yet that requests which need thought go to one agent; missing if no hint is shown. */
  firstOffer?(): Promise<boolean>
  /** Returns the resources for a framework, or, if no agent can be restricted to reading, the reason. */
  resources(): Promise<Resources | { why: string }>
  load(framework: Exclude<Framework, 'direct'>): Promise<FrameworkDefinition>
  /** Whether the turn continues a task tree that an earlier turn left unfinished. */
  continuesTree?(turn: Turn): Promise<boolean>
  /** Lets the acting agent itself call for thought, until the returned function is called. */
  offerAdvice?(ask: AdviceAsk): () => void
}

/** Loads a framework; if a request cannot be thought through, it can still be done. */
export async function prepared(
  framework: Exclude<Framework, 'direct'>,
  o: Pick<ThinkingParts, 'resources' | 'load' | 'how'>,
): Promise<Ready | Lacking> {
  try {
    const resources = await o.resources()
    // If the person did not choose a framework, its absence is not mentioned at every turn.
    if ('why' in resources) return { lacks: resources.why, expected: o.how === 'auto' }
    return { resources, definition: await o.load(framework) }
  } catch (error) {
    return { lacks: messageOf(error), expected: false }
  }
}

type Ready = { resources: Resources; definition: FrameworkDefinition }
type Lacking = { lacks: string; expected: boolean }
