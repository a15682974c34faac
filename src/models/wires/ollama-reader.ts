import type { Counted, Heard, Reader, Target } from '../wire.ts'
import { randomName } from '../../base/id.ts'
import { Pieces } from '../pieces.ts'

/** What Ollama streams: a line of JSON for each part of one message, the last with its counts. */
export function ollamaReader(to: Target): Reader {
  const pieces = new Pieces(to.name)
  let thought = ''
  let calls = 0

  function* heard(message: any): Generator<Heard> {
    if (message.thinking) {
      thought += message.thinking
      yield { type: 'thought', delta: message.thinking }
    }
    if (message.content) {
      pieces.text(message.content.length)
      yield { type: 'text', delta: message.content }
    }
    for (const call of message.tool_calls ?? []) {
      const id = call.id || `call_${randomName()}`
      if (calls++ === 0 && thought) pieces.item({ thinking: thought })
      pieces.call(id)
      yield { type: 'call', id, tool: call.function.name, input: call.function.arguments ?? {} }
    }
  }

  return {
    *read(data) {
      const chunk = JSON.parse(data)
      if (chunk.error) return yield { type: 'trouble', trouble: { body: chunk } }
      if (chunk.message) yield* heard(chunk.message)
      if (!chunk.done) return
      yield { type: 'counted', ...count(chunk) }
      const stop = chunk.done_reason === 'length' ? 'length' : calls > 0 ? 'calls' : 'done'
      yield { type: 'end', stop, ...pieces.opaque() }
    },
    *close() {},
  }
}

const count = (chunk: any): Counted => ({
  input: chunk.prompt_eval_count ?? 0,
  output: chunk.eval_count ?? 0,
  cached: 0,
})
