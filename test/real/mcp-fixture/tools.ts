import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import { fromJsonSchema } from '@modelcontextprotocol/server'
import { setTimeout as sleep } from 'node:timers/promises'
import { image, resource, said, text, wav } from './bodies.ts'

const none = fromJsonSchema({ type: 'object', properties: {} })
const words = (name: string) =>
  fromJsonSchema<Record<string, string>>({
    type: 'object',
    properties: { [name]: { type: 'string' } },
    required: [name],
  })

type Run = (input: Record<string, string>, context: ServerContext) => Promise<{ content: [] }>

/** The tools that the conformance suite calls by their names. */
export function addTools(server: McpServer): void {
  const tool = (name: string, run: Run, inputSchema = none) =>
    server.registerTool(name, { description: `The suite's ${name}.`, inputSchema }, (input, context) =>
      run(input as Record<string, string>, context),
    )
  tool('test_simple_text', async () => said(text('This is a simple text response for testing.')))
  tool('test_image_content', async () => said(image))
  tool('test_audio_content', async () => said({ type: 'audio', data: wav, mimeType: 'audio/wav' }))
  tool('test_embedded_resource', async () =>
    said(resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  )
  tool('test_multiple_content_types', async () =>
    said(
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ),
  )
  tool('test_error_handling', async () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  tool('test_tool_with_progress', withProgress)
  tool('test_tool_with_logging', withLogging)
  tool('test_logging_tool', withLogging)
  addAsking(tool)
}

async function withProgress(_input: unknown, { mcpReq }: ServerContext) {
  const progressToken = mcpReq._meta?.progressToken
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined)
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    await sleep(50)
  }
  return said(text('Done.'))
}

async function withLogging(_input: unknown, { mcpReq }: ServerContext) {
  for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.log('info', line)
    await sleep(50)
  }
  return said(text('Done.'))
}

/** Tools of the older protocol, which ask the client while they run. */
function addAsking(tool: (name: string, run: Run, inputSchema?: typeof none) => void): void {
  const elicit =
    (label: string, properties: object, required: string[] = []): Run =>
    async ({ message = 'Please fill this in' }, { mcpReq }) => {
      const requestedSchema = { type: 'object', properties, required } as never
      const { action, content } = await mcpReq.elicitInput({ mode: 'form', message, requestedSchema })
      return said(text(`${label}: action=${action}, content=${JSON.stringify(content ?? {})}`))
    }
  tool(
    'test_sampling',
    async ({ prompt }, { mcpReq }) => {
      const messages = [{ role: 'user' as const, content: text(prompt!) }]
      const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 })
      return said(text(`LLM response: ${(content as { text?: string }).text}`))
    },
    words('prompt'),
  )
  const person = { username: { type: 'string' }, email: { type: 'string' } }
  tool('test_elicitation', elicit('User response', person, ['username', 'email']), words('message'))
  tool(
    'test_elicitation_sep1034_defaults',
    elicit('Elicitation completed', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  )
  const plain = ['option1', 'option2', 'option3']
  const titled = ['First', 'Second', 'Third'].map((title, i) => ({ const: `value${i + 1}`, title }))
  tool(
    'test_elicitation_sep1330_enums',
    elicit('Elicitation completed', {
      untitledSingle: { type: 'string', enum: plain },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }),
  )
}
