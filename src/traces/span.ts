/** A span in OpenTelemetry's conventions for generative AI. Their attribute names are used only in this file. */
export type Span = {
  trace: string
  id: string
  parent?: string
  name: string
  kind: 'internal' | 'client'
  from: number
  to: number
  attributes: Record<string, string | number | boolean>
  /** The message of the error. */
  error?: string
}

export const names = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  tool: 'gen_ai.tool.name',
  call: 'gen_ai.tool.call.id',
  callInput: 'gen_ai.tool.call.arguments',
  callResult: 'gen_ai.tool.call.result',
  input: 'gen_ai.usage.input_tokens',
  output: 'gen_ai.usage.output_tokens',
  cached: 'gen_ai.usage.cache_read.input_tokens',
  told: 'gen_ai.input.messages',
  said: 'gen_ai.output.messages',
  error: 'error.type',
  /** termaite's own attribute, because the conventions have none for the role of a consulted agent. */
  role: 'termaite.role',
} as const

/** Makes a random id of some bytes, in hex. */
export function spanId(bytes: 8 | 16): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}
