import type { CallToolResult, Server, ServerContext, ToolAnnotations } from '@modelcontextprotocol/server'
import type { Clock } from '../../base/time/clock.ts'
import type { Risk, Tool, ToolOutput } from '../../core/work/tool.ts'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../base/error-message.ts'
import { failed } from '../../core/talk/outcome.ts'
import { nobody } from '../../core/talk/question.ts'

export type McpLibrary = typeof import('@modelcontextprotocol/server')

/** Loads the MCP library when a server is opened, so that no other run pays for it. */
export const loadMcpLibrary = (): Promise<McpLibrary> => import('@modelcontextprotocol/server')

/** A text that clients can read beside the tools; `bytes` if the size is known without reading. */
export type Resource = { uri: string; name: string; description?: string; media: string; bytes?: number }

/** A family of resources: `uri` holds the `{names}` that a client fills in. */
type ResourceFamily = { uri: string; name: string; description?: string; media: string }

/** The content of a resource: a text, or bytes in base64. */
type ResourceBody = { media: string } & ({ text: string } | { blob: string })

/** The resources of a server; `read` returns undefined for one that does not exist. */
export interface Resources {
  families: readonly ResourceFamily[]
  list(): Promise<Resource[]>
  read(uri: string): Promise<ResourceBody | undefined>
}

export const noResources: Resources = { families: [], list: async () => [], read: async () => undefined }

type CallContext = { cwd: string; clock: Clock; longestMs?: number }

/** The tools that a server publishes, in the order of their listing, and its name. */
export type ToolServerOptions = CallContext & {
  name: string
  version: string
  /** Tells a model how the tools belong together. */
  instructions?: string
  tools: readonly Tool[]
  /** Tools that are not listed, whose calls are refused with a reason. */
  unlisted?: readonly Tool[]
  resources: Resources
  /** How long one call may take at most, whatever progress the client hears of. */
  longestMs?: number
}

/** Makes a server for one connection, or for one request of the newer protocol: a server keeps no state. */
type ServerFactory = () => Server

export function toolServer(
  { Server, ProtocolError, ProtocolErrorCode }: McpLibrary,
  options: ToolServerOptions,
): ServerFactory {
  const { name, version, instructions, tools, unlisted = [], resources } = options
  const listed = tools.map(toolRow)
  const absent = (what: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, what)
  return () => {
    const server = new Server({ name, version }, { capabilities: { tools: {}, resources: {} }, instructions })
    server.setRequestHandler('tools/list', async () => ({ tools: listed }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const tool = [...tools, ...unlisted].find((one) => one.name === params.name)
      if (!tool) throw absent(`there is no tool ${params.name}; there are: ${tools.map((one) => one.name).join(', ')}`)
      const result = await callTool(tool, params.arguments ?? {}, mcpReq, options, () => foldersOf(server))
      return server.projectCallToolResult(result, tool.output)
    })
    server.setRequestHandler('resources/list', async () => ({ resources: (await resources.list()).map(resourceRow) }))
    server.setRequestHandler('resources/templates/list', async () => ({
      resourceTemplates: resources.families.map(familyRow),
    }))
    server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
      const found = await resources.read(uri)
      if (!found) throw absent(`there is no resource ${uri}`)
      const { media: mimeType, ...body } = found
      return { contents: [{ uri, mimeType, ...body }] }
    })
    return server
  }
}

/** The folders that the client works in (its roots); empty if the client does not name them. */
async function foldersOf(server: Server): Promise<string[]> {
  if (!server.getClientCapabilities()?.roots) return []
  const { roots } = await server.listRoots().catch(() => ({ roots: [] }))
  return roots.flatMap(({ uri }) => (uri.startsWith('file:///') ? [fileURLToPath(uri)] : []))
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
    outputSchema: output as { type: 'object' } | undefined,
    annotations: annotations[risk],
  }
}

function resourceRow({ uri, name, description, media, bytes }: Resource) {
  return { uri, name, mimeType: media, description: description || undefined, size: bytes }
}

function familyRow({ uri, name, description, media }: ResourceFamily) {
  return { uriTemplate: uri, name, mimeType: media, description: description || undefined }
}

/** Clients give up after about a minute, unless they hear of progress. */
const patienceMs = 50_000
const heartbeatMs = 10_000

type ToolRequest = Pick<ServerContext['mcpReq'], 'signal' | 'notify' | '_meta'>

/** Runs one call of a tool; every error becomes a text result for the model that called. */
async function callTool(
  tool: Tool,
  input: unknown,
  request: ToolRequest,
  context: CallContext,
  folders: () => Promise<string[]>,
): Promise<CallToolResult> {
  const over = new AbortController()
  const token = request._meta?.progressToken
  const tell = token === undefined ? undefined : progressSender(token, request, over.signal)
  // Ends with the call, so nothing waits for it.
  if (tell) void sendHeartbeats(tell, context.clock, over.signal)
  try {
    const output = await tool.run(tool.parse(input), {
      cwd: context.cwd,
      signal: request.signal,
      ask: nobody,
      progress: (delta) => tell?.(delta),
      consult: async () => failed('missing', 'no agent can be consulted over MCP'),
      until: untilOf(context, tell !== undefined),
      folders,
    })
    return resultOf(output)
  } catch (error) {
    return { content: [{ type: 'text', text: messageOf(error) }], isError: true }
  } finally {
    over.abort()
  }
}

/** The moment by which a call must have its result. */
function untilOf({ clock, longestMs }: CallContext, hearsProgress: boolean): number {
  if (longestMs !== undefined) return clock.elapsed() + longestMs
  return hearsProgress ? Number.MAX_SAFE_INTEGER : clock.elapsed() + patienceMs
}

function resultOf(output: ToolOutput): CallToolResult {
  const { text, data } = typeof output === 'string' ? { text: output } : output
  return { content: [{ type: 'text', text }], ...(data === undefined ? {} : { structuredContent: data }) }
}

type SendProgress = (message?: string) => void

/** Sends progress with rising numbers, as the protocol demands, and none after the result. */
function progressSender(progressToken: string | number, request: ToolRequest, over: AbortSignal): SendProgress {
  let progress = 0
  return (message) => {
    if (over.aborted) return
    const params = { progressToken, progress: ++progress, message: message || undefined }
    // A client that closed its connection gets no progress; its call is aborted by its signal.
    request.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}

/** Keeps a client waiting whose timeout restarts with each progress message. */
async function sendHeartbeats(tell: SendProgress, clock: Clock, over: AbortSignal): Promise<void> {
  for (;;) {
    await clock.sleep(heartbeatMs, over)
    if (over.aborted) return
    tell()
  }
}
