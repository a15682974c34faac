import type { RequestStateCodec } from '@modelcontextprotocol/server'
import { createRequestStateCodec, fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { randomBytes } from 'node:crypto'
import { image, message, png, resource, text } from './bodies.ts'
import { addInputs } from './inputs.ts'
import { addTools } from './tools.ts'

const state: RequestStateCodec<string> = createRequestStateCodec<string>({ key: randomBytes(32) })

/** Everything that the conformance suite looks for by name, mounted on the product's own transport. */
export function fixtureServer(): McpServer {
  const server = new McpServer(
    { name: 'termaite-conformance', version: '1' },
    {
      capabilities: {
        tools: {},
        resources: { subscribe: true },
        prompts: {},
        logging: {},
        completions: {},
      },
      requestState: { verify: state.verify },
    },
  )
  addTools(server)
  addInputs(server, state)
  addResources(server)
  addPrompts(server)
  server.server.setRequestHandler('resources/subscribe', async () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', async () => ({}))
  server.server.setRequestHandler('completion/complete', async () => ({ completion: { values: [] } }))
  return server
}

function addResources(server: McpServer): void {
  const fixed = (name: string, mimeType: string, body: { text: string } | { blob: string }) =>
    server.registerResource(name, `test://${name}`, { mimeType }, async ({ href }) => ({
      contents: [{ uri: href, mimeType, ...body }],
    }))
  fixed('static-text', 'text/plain', { text: 'This is the content of the static text resource.' })
  fixed('static-binary', 'image/png', { blob: png })
  fixed('watched-resource', 'text/plain', { text: 'Watched resource content' })
  const mimeType = 'application/json'
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, { mimeType }, async ({ href }, { id }) => ({
    contents: [
      { uri: href, mimeType, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) },
    ],
  }))
}

function addPrompts(server: McpServer): void {
  const words = (...names: string[]) =>
    fromJsonSchema<Record<string, string>>({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      required: names,
    })
  server.registerPrompt('test_simple_prompt', { description: 'Simple.' }, async () => ({
    messages: [message(text('This is a simple prompt for testing.'))],
  }))
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments.', argsSchema: words('arg1', 'arg2') },
    async ({ arg1, arg2 }) => ({
      messages: [message(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource.', argsSchema: words('resourceUri') },
    async ({ resourceUri }) => ({
      messages: [
        message(resource(resourceUri!, 'text/plain', 'Embedded resource content for testing.')),
        message(text('Please process the embedded resource above.')),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'With an image.' }, async () => ({
    messages: [message(image), message(text('Please analyze the image above.'))],
  }))
}
