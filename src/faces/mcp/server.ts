import type { Server, ToolAnnotations } from '@modelcontextprotocol/server'
import type { Risk, Tool } from '../../core/work/tool.ts'
import type { CallWorld } from './call.ts'
import type { Resource, ResourceFamily, Resources } from './resources.ts'
import type { Library } from './sdk.ts'
import { callTool } from './call.ts'

/** What is published, and as whose. The tools are listed in their order. */
export type Served = CallWorld & {
  name: string
  version: string
  /** What a model should know of the tools as a whole. */
  instructions?: string
  tools: readonly Tool[]
  resources: Resources
}

/** Makes a server for one connection, or for one request of the newer protocol: it remembers nothing. */
export type MakeServer = () => Server

export function toolServer({ Server, ProtocolError, ProtocolErrorCode }: Library, served: Served): MakeServer {
  const { name, version, instructions, tools, resources } = served
  const listed = tools.map(toolRow)
  const absent = (what: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, what)
  return () => {
    const server = new Server(
      { name, version },
      { capabilities: { tools: {}, resources: {} }, ...(instructions ? { instructions } : {}) },
    )
    server.setRequestHandler('tools/list', async () => ({ tools: listed }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const tool = tools.find((one) => one.name === params.name)
      if (!tool) throw absent(`there is no tool ${params.name}; there are: ${tools.map((one) => one.name).join(', ')}`)
      const result = await callTool(tool, params.arguments ?? {}, mcpReq, served)
      return server.projectCallToolResult(result, tool.output)
    })
    server.setRequestHandler('resources/list', async () => ({ resources: (await resources.list()).map(resourceRow) }))
    server.setRequestHandler('resources/templates/list', async () => ({
      resourceTemplates: resources.families.map(familyRow),
    }))
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      const found = await resources.read(uri)
      if (!found) throw absent(`there is no resource ${uri}`)
      return { contents: [{ uri, mimeType: found.media, text: found.text }] }
    })
    return server
  }
}

const annotations: Record<Risk, ToolAnnotations> = {
  read: { readOnlyHint: true, openWorldHint: false },
  write: { readOnlyHint: false, destructiveHint: false },
  run: { readOnlyHint: false, destructiveHint: true },
}

function toolRow({ name, description, schema, output, risk }: Tool) {
  return {
    name,
    description,
    inputSchema: schema as { type: 'object' },
    ...(output ? { outputSchema: output as { type: 'object' } } : {}),
    annotations: annotations[risk],
  }
}

function resourceRow({ uri, name, description, media, bytes }: Resource) {
  return {
    uri,
    name,
    mimeType: media,
    ...(description ? { description } : {}),
    ...(bytes === undefined ? {} : { size: bytes }),
  }
}

function familyRow({ uri, name, description, media }: ResourceFamily) {
  return { uriTemplate: uri, name, mimeType: media, ...(description ? { description } : {}) }
}
