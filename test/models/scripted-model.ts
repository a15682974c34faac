import type { Model, ModelEvent, ModelRequest } from '../../src/core/work/model.ts'
import { untilAborted } from '../../src/base/time/clock.ts'

/** One answer of a scripted model; `hang` waits until the request is aborted. */
export type ModelStep = ModelEvent | { say: string } | { hang: true }
export type ModelScript = readonly ModelStep[] | ((request: ModelRequest) => readonly ModelStep[])

export type ScriptedModel = Model & {
  /** Copies of the requests that the model was given. */
  readonly requests: readonly ModelRequest[]
  readonly running: number
}

/** A model without a provider, for tests. Each request plays the next script; the last script repeats. */
export function scriptedModel(
  scripts: readonly ModelScript[],
  part: { name?: string; window?: number } = {},
): ScriptedModel {
  const requests: ModelRequest[] = []
  let running = 0
  return {
    name: part.name ?? 'scripted',
    window: part.window ?? 200_000,
    get requests() {
      return requests
    },
    get running() {
      return running
    },
    async *stream(request, signal) {
      const script = scripts[Math.min(requests.length, scripts.length - 1)] ?? []
      requests.push(structuredClone(request))
      running++
      try {
        yield* play(typeof script === 'function' ? script(request) : script, signal)
      } finally {
        running--
      }
    },
  }
}

async function* play(steps: readonly ModelStep[], signal: AbortSignal): AsyncGenerator<ModelEvent> {
  let calls = 0
  for (const step of steps) {
    if ('hang' in step) await untilAborted(signal)
    if (signal.aborted) return yield { type: 'failure', failure: { kind: 'aborted', message: 'cancelled' } }
    if ('hang' in step) continue
    if ('say' in step) yield { type: 'text', delta: step.say }
    else {
      if (step.type === 'call') calls++
      yield step
      if (step.type === 'end' || step.type === 'failure') return
    }
  }
  yield { type: 'end', stop: calls > 0 ? 'calls' : 'done' }
}
