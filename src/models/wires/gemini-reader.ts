import type { Counted, Heard, Reader, Target } from '../wire.ts'
import { randomName } from '../../base/id.ts'
import { Pieces } from '../pieces.ts'

/** How an id begins that we made for a call that had none. */
export const ourMark = 'gemini-'

const refusals = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
])

/** What Gemini streams: parts, each whole, and in the last of them why it stopped. */
export function geminiReader(to: Target): Reader {
  const pieces = new Pieces(to.name)
  let calls = 0
  let counted: Counted | undefined
  let finish: { reason: string; message?: string } | undefined

  function* part(one: any): Generator<Heard> {
    const sealed = one.thoughtSignature ? { thoughtSignature: one.thoughtSignature } : undefined
    if (one.functionCall) {
      calls++
      const id = one.functionCall.id ?? `${ourMark}${randomName()}`
      pieces.call(id, sealed)
      yield { type: 'call', id, tool: one.functionCall.name, input: one.functionCall.args ?? {} }
    } else if (typeof one.text === 'string' && one.thought) {
      if (sealed) pieces.item({ text: one.text, thought: true, ...sealed })
      if (one.text !== '') yield { type: 'thought', delta: one.text }
    } else if (typeof one.text === 'string') {
      pieces.text(one.text.length, sealed)
      if (one.text !== '') yield { type: 'text', delta: one.text }
    }
  }

  function* ended({ reason, message }: { reason: string; message?: string }): Generator<Heard> {
    const known = reason === 'STOP' || reason === 'MAX_TOKENS' || refusals.has(reason)
    if (!known)
      return yield {
        type: 'trouble',
        trouble: { body: { error: { status: reason, message: message ?? `it stopped: ${reason}` } } },
      }
    if (counted) yield { type: 'counted', ...counted }
    const stop = refusals.has(reason) ? 'refused' : reason === 'MAX_TOKENS' ? 'length' : calls > 0 ? 'calls' : 'done'
    yield { type: 'end', stop, ...pieces.opaque() }
  }

  return {
    *read(data) {
      const chunk = JSON.parse(data)
      if (chunk.error) return yield { type: 'trouble', trouble: { body: chunk } }
      counted = count(chunk.usageMetadata) ?? counted
      const blocked = chunk.promptFeedback?.blockReason
      if (blocked) {
        yield { type: 'text', delta: `The prompt was blocked: ${blocked}.` }
        return yield { type: 'end', stop: 'refused' }
      }
      const candidate = chunk.candidates?.[0]
      for (const one of candidate?.content?.parts ?? []) yield* part(one)
      if (candidate?.finishReason) finish = { reason: candidate.finishReason, message: candidate.finishMessage }
    },
    // Counts may come after the reason: only the end of the stream is the end.
    *close() {
      if (finish) yield* ended(finish)
    },
  }
}

function count(usage: any): Counted | undefined {
  if (!usage) return undefined
  return {
    input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    cached: usage.cachedContentTokenCount ?? 0,
  }
}
