import type { Server, ToolAnnotations, CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { Risk, Tool, ToolOutput } from '../../core/work/tool.ts'
import type { Clock } from '../../base/clock.ts'
import { wordsOf } from '../../base/words.ts'
import { failed } from '../../core/talk/outcome.ts'
import { nobody } from '../../core/talk/question.ts'

/** What is published, and as whose. The tools are listed in their order. */
export type ToolServerOptions = CallContext & {
  name: string
  version: string
  /** What a model should know of the tools as a whole. */
  instructions?: string
  tools: readonly Tool[]
  resources: Resources
}

/** Makes a server for one connection, or for one request of the newer protocol: it remembers nothing. */
export type ServerFactory = () => Server

export function toolServer(
  { Server, ProtocolError, ProtocolErrorCode }: McpLibrary,
  served: ToolServerOptions,
): ServerFactory {
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

/** Clients give up at about a minute, unless they hear of progress. */
const patienceMs = 50_000
const heartbeatMs = 10_000

export type CallContext = { cwd: string; clock: Clock }

type Request = Pick<ServerContext['mcpReq'], 'signal' | 'notify' | '_meta'>

/** One call of a tool: whatever goes wrong is a result in words, for the model that called. */
export async function callTool(
  tool: Tool,
  input: unknown,
  request: Request,
  world: CallContext,
): Promise<CallToolResult> {
  const over = new AbortController()
  const token = request._meta?.progressToken
  const tell = token === undefined ? undefined : teller(token, request, over.signal)
  if (tell) void beat(tell, world.clock, over.signal)
  try {
    const output = await tool.run(tool.parse(input), {
      cwd: world.cwd,
      signal: request.signal,
      ask: nobody,
      progress: (delta) => tell?.(delta),
      consult: async () => failed('missing', 'there is nobody to consult over MCP'),
      until: tell ? Number.MAX_SAFE_INTEGER : world.clock.now() + patienceMs,
    })
    return resultOf(output)
  } catch (error) {
    return { content: [{ type: 'text', text: wordsOf(error) }], isError: true }
  } finally {
    over.abort()
  }
}

function resultOf(output: ToolOutput): CallToolResult {
  const { text, data } = typeof output === 'string' ? { text: output } : output
  return { content: [{ type: 'text', text }], ...(data === undefined ? {} : { structuredContent: data as object }) }
}

type Tell = (message?: string) => void

/** Each one higher than the last, as the protocol wants it, and none after the result. */
function teller(progressToken: string | number, request: Request, over: AbortSignal): Tell {
  let progress = 0
  return (message) => {
    if (over.aborted) return
    const params = { progressToken, progress: ++progress, ...(message ? { message } : {}) }
    // Whoever hung up hears nothing: the call learns of that by its signal.
    void request.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

/** A client that counts from the last word waits on. */
async function beat(tell: Tell, clock: Clock, over: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(heartbeatMs, over)
    if (over.aborted) return
    tell()
  }
}

/** What can be read beside the tools; `bytes` where it is known without reading. */
export type Resource = { uri: string; name: string; description?: string; media: string; bytes?: number }

/** A family of resources: `uri` holds `{names}` of what to fill in. */
export type ResourceFamily = { uri: string; name: string; description?: string; media: string }

/** What a server lets be read: `read` gives undefined for what is not there. */
export interface Resources {
  families: readonly ResourceFamily[]
  list(): Promise<Resource[]>
  read(uri: string): Promise<{ media: string; text: string } | undefined>
}

export const noResources: Resources = { families: [], list: async () => [], read: async () => undefined }

export type McpLibrary = typeof import('@modelcontextprotocol/server')

/** The library, loaded when a server is opened: no other run pays for it. */
export const loadMcpLibrary = (): Promise<McpLibrary> => import('@modelcontextprotocol/server')
