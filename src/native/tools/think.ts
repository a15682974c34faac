import type { Clock } from '../../base/time/clock.ts'
import type { Framework } from '../../core/talk/framework.ts'
import type { Tool } from '../../core/work/tool.ts'
import type { Advise } from './shared/tool-parts.ts'
import { frameworkNames } from '../../core/talk/framework.ts'
import { oneOf, parser, string } from '../../core/data/shape.ts'
import { defineTool } from './shared/tool-definition.ts'

const advised = frameworkNames.filter((name): name is Exclude<Framework, 'direct'> => name !== 'direct')

const input = parser({ framework: oneOf(...advised), question: string({ min: 1 }) })

/** How long one call waits, and by which clock; a call without a limit waits until the advice arrives. */
type Patience = { clock: Clock; ms: number }

/** The tool by which the acting agent asks for thought. It asks other agents, which may only read; the caller acts. */
export function thinkTool(advise: Advise, o: { available?(): boolean; patience?: Patience } = {}): Tool {
  return defineTool({
    name: 'think',
    risk: 'read',
    input,
    delegates: true,
    leadOnly: true,
    available: o.available,
    effect: () => ({ does: 'nothing' }),
    run: (request, { signal }) =>
      o.patience ? withPatience(advise, request, signal, o.patience) : advise(request, signal),
  })
}

const retry =
  'retry: the agents that were asked are still thinking. Call think again now with the same framework and the same question; that waits for the same answer and starts nothing new.'

/** Answers `retry` before the caller's own time limit would end the call with an error. */
async function withPatience(
  advise: Advise,
  request: Parameters<Advise>[0],
  signal: AbortSignal,
  { clock, ms }: Patience,
): Promise<string> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => retry)
  try {
    return await Promise.race([advise(request, AbortSignal.any([signal, over.signal])), late])
  } finally {
    over.abort()
  }
}
