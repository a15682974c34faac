import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'
import type { Clock } from '../../base/clock.ts'
import type { Tool, ToolOutput } from '../../core/work/tool.ts'
import { wordsOf } from '../../base/words.ts'
import { failed } from '../../core/talk/outcome.ts'
import { nobody } from '../../core/talk/question.ts'

/** Clients give up at about a minute, unless they hear of progress. */
const patienceMs = 50_000
const heartbeatMs = 10_000

export type CallWorld = { cwd: string; clock: Clock }

type Request = Pick<ServerContext['mcpReq'], 'signal' | 'notify' | '_meta'>

/** One call of a tool: whatever goes wrong is a result in words, for the model that called. */
export async function callTool(
  tool: Tool,
  input: unknown,
  request: Request,
  world: CallWorld,
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
