import type { Event, Usage } from '../../core/talk/entry.ts'
import type { Failure } from '../../core/talk/outcome.ts'
import type { Model, ModelEvent, ModelRequest } from '../../core/work/model.ts'
import { defined } from '../../base/defined.ts'

export type Call = Extract<ModelEvent, { type: 'call' }>

type Whole = { text: string; calls: Call[]; stop: 'done' | 'calls' | 'length' | 'refused'; opaque?: unknown }

/** One answer of the model, or why there is none, and its usage. */
type Answer = { usage: Usage[] } & ((Whole & { failure?: undefined }) | { failure: Failure })
export type WholeAnswer = Extract<Answer, Whole>

/** Asks the model once: streams its text and thoughts, and returns the whole answer. */
export async function* askModel(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<Event, Answer> {
  let text = ''
  const calls: Call[] = []
  const usage: Usage[] = []
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case 'text':
        text += event.delta
        yield event
        break
      case 'thought':
        yield event
        break
      case 'call':
        calls.push(event)
        break
      case 'usage':
        usage.push({ type: 'usage', ...event.usage })
        break
      case 'failure':
        return { usage, failure: event.failure }
      case 'end':
        return defined({ usage, text, calls, stop: event.stop, opaque: event.opaque })
    }
  }
  return { usage, failure: { kind: 'crash', message: `${model.name} stopped in the middle of its answer` } }
}
