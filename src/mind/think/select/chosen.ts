import type { Clock } from '../../../base/clock.ts'
import type { Framework } from '../../../core/talk/framework.ts'
import type { SystemSpec } from '../../../core/work/system-spec.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'
import { goesOn } from './follow-up.ts'
import { labelIn, labelPrompt } from './label.ts'
import { requestOf } from './request.ts'
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

/** What the words find is not worth its cost where they only go on with a talk; what must be right stays so. */
const stands = new Set<Framework>(['direct', 'reflect'])

/** How to think about a request: by its words, else by asking; what only goes on with a talk costs nothing. Never throws. */
export async function chosen(
  request: string,
  spec: () => Promise<SystemSpec>,
  asking?: Asking,
  followsUp = false,
): Promise<Choice> {
  const { ambiguous, ...finding } = select(request)
  if (followsUp && !stands.has(finding.framework) && goesOn(requestOf(request)))
    return { ...found('direct', 0.8, 'a follow-up'), by: 'words' }
  if (!ambiguous) return { ...finding, by: 'words' }
  if (followsUp) return { ...found('direct', 0, 'a follow-up'), by: 'default' }
  const framework = asking && labelIn((await answered(request, spec, asking)) ?? '')
  return framework ? { ...found(framework, 0.7, 'an agent was asked'), by: 'agent' } : { ...unknown, by: 'default' }
}

/** A wrong guess at anything else costs calls and a wait; this costs nothing, and every agent can still think by itself. */
const unknown = found('direct', 0, 'nothing says otherwise')

async function answered(
  request: string,
  spec: () => Promise<SystemSpec>,
  { ask, clock, signal, ms = 8000 }: Asking,
): Promise<string | undefined> {
  if (signal?.aborted) return undefined
  const over = new AbortController()
  const until = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const late = clock.sleep(ms, until).then(() => undefined)
  const answer = async () => ask(labelPrompt(request, await spec()), until)
  try {
    return await Promise.race([answer(), late])
  } catch {
    return undefined
  } finally {
    over.abort()
  }
}
