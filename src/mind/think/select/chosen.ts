import type { Clock } from '../../../base/clock.ts'
import type { SystemSpec } from '../../../core/work/system-spec.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'
import { labelIn, labelPrompt } from './label.ts'
import { select } from './select.ts'

/** Whom an ambiguous request is put to: an answer in words, or a throw, or nothing until the signal aborts. */
export type Asking = {
  ask(prompt: string, signal: AbortSignal): Promise<string>
  clock: Clock
  signal?: AbortSignal
  /** How long the person may be kept waiting for it. */
  ms?: number
}

/** `by`: the words of the request, an agent that was asked, or neither could tell. */
export type Choice = Finding & { by: 'words' | 'agent' | 'default' }

/** How to think about a request: by its words, else by asking; what only goes on with a talk is not asked about. Never throws. */
export async function chosen(request: string, spec: SystemSpec, asking?: Asking, followsUp = false): Promise<Choice> {
  const { ambiguous, ...finding } = select(request)
  if (!ambiguous) return { ...finding, by: 'words' }
  if (followsUp) return { ...found('direct', 0, 'a follow-up'), by: 'default' }
  const framework = asking && labelIn((await answered(labelPrompt(request, spec), asking)) ?? '')
  return framework ? { ...found(framework, 0.7, 'an agent was asked'), by: 'agent' } : { ...unknown, by: 'default' }
}

/** A wrong guess at anything else costs calls and a wait; this costs nothing, and every agent can still think by itself. */
const unknown = found('direct', 0, 'nothing says otherwise')

async function answered(prompt: string, { ask, clock, signal, ms = 8000 }: Asking): Promise<string | undefined> {
  if (signal?.aborted) return undefined
  const over = new AbortController()
  const until = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const late = clock.sleep(ms, until).then(() => undefined)
  try {
    return await Promise.race([ask(prompt, until), late])
  } catch {
    return undefined
  } finally {
    over.abort()
  }
}
