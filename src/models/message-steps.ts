import type { ModelMessage } from '../core/work/model.ts'
import { isPlainObject } from '../base/plain-object.ts'

export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

/** A message, or the results of the previous message's calls, in the order of the calls. */
export type MessageStep =
  | Extract<ModelMessage, { role: 'user' }>
  | AssistantMessage
  // The results of the previous message's calls.
  | { role: 'results'; results: ToolMessage[] }

/**
 * Orders a conversation as every provider requires: each call is followed by its result, and each result follows its call. A provider
 * would refuse the whole conversation because of a single call without a result, which a killed process leaves behind.
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
      ({ id, tool }) => answers.find(({ call }) => call === id) ?? interruptedCall(id, tool),
    )
    steps.push({ role: 'results', results })
  }
  return steps
}

/** Finds the results of a message's calls. A result comes right after its call, even if the user typed something in between. */
function resultsAfter(messages: readonly ModelMessage[], at: number): ToolMessage[] {
  const next = messages.findIndex((message, later) => later > at && message.role === 'assistant')
  return messages.slice(at + 1, next < 0 ? undefined : next).filter((message) => message.role === 'tool')
}

const interruptedCall = (call: string, tool: string): ToolMessage => ({
  role: 'tool',
  call,
  tool,
  ok: false,
  text: 'It was interrupted, and no result was kept.',
})

/** Returns a call's input as the object that every provider requires; any other input is wrapped unchanged. */
export function objectOf(input: unknown): object {
  if (isPlainObject(input)) return input
  return input === undefined || input === '' ? {} : { input }
}

/** Parses the input that a model wrote for a call. Text that is not JSON stays text, and the tool reports the error. */
export function inputOf(written: string): unknown {
  if (written.trim() === '') return {}
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}
