import type { ModelMessage } from '../core/work/model.ts'

export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
export type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

/** A message, or the results that answer the calls of the one before it, in the order of the calls. */
export type MessageStep =
  Extract<ModelMessage, { role: 'user' }> | AssistantMessage | { role: 'results'; results: ToolMessage[] }

/**
 * The conversation as every provider wants it: each call is answered at once and each answer was called for.
 * One call without a result, from a process that was killed, would have the whole conversation refused for ever.
 */
export function messageSteps(messages: readonly ModelMessage[]): MessageStep[] {
  const steps: MessageStep[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') continue
    if (message.role === 'assistant' && message.text === '' && message.calls.length === 0) continue
    steps.push(message)
    if (message.role !== 'assistant' || message.calls.length === 0) continue
    const answers = resultsAfter(messages, at)
    const results = message.calls.map(
      ({ id, tool }) => answers.find(({ call }) => call === id) ?? interrupted(id, tool),
    )
    steps.push({ role: 'results', results })
  }
  return steps
}

/** Something may have been said between a call and its result: the result still comes first. */
function resultsAfter(messages: readonly ModelMessage[], at: number): ToolMessage[] {
  const next = messages.findIndex((message, later) => later > at && message.role === 'assistant')
  return messages.slice(at + 1, next < 0 ? undefined : next).filter((message) => message.role === 'tool')
}

const interrupted = (call: string, tool: string): ToolMessage => ({
  role: 'tool',
  call,
  tool,
  ok: false,
  text: 'It was interrupted, and no result was kept.',
})

/** A call's input as the object that every provider wants; one that could not be read goes back as it was written. */
export function objectOf(input: unknown): object {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input
  return input === undefined || input === '' ? {} : { input }
}

/** What a model wrote as a call's input; what is no JSON stays text, and the tool says what is wrong with it. */
export function inputOf(written: string): unknown {
  if (written.trim() === '') return {}
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}
