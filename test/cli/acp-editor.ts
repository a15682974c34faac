import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import type { RequestPermissionRequest, RequestPermissionResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import { once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'
import { frameFaults } from '../agents/acp-frames.ts'

export type Seen = { updates: SessionUpdate[]; asked: RequestPermissionRequest[] }

/** The SDK's own client at a running program; `close` says what of the frames the protocol's schema does not allow. */
export function editorOn(
  context: TestContext,
  child: ChildProcess,
  permit: (asked: RequestPermissionRequest) => RequestPermissionResponse = () => ({
    outcome: { outcome: 'cancelled' },
  }),
) {
  // One that a failed test left is ended; it has ended by itself otherwise.
  context.after(() => void child.kill('SIGKILL'))
  const seen: Seen = { updates: [], asked: [] }
  const [sent, heard] = [recorder(), recorder()]
  child.stdout!.pipe(heard.through)
  sent.through.pipe(child.stdin!)
  const stream = acp.ndJsonStream(
    Writable.toWeb(sent.through),
    Readable.toWeb(heard.through) as ReadableStream<Uint8Array>,
  )
  const connection = acp
    .client({ name: 'an editor' })
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      seen.asked.push(params)
      return permit(params)
    })
    .onNotification(acp.methods.client.session.update, ({ params }) => void seen.updates.push(params.update))
    .connect(stream)
  const { agent } = connection
  const said = (voice: 'agent_message_chunk' | 'agent_thought_chunk') =>
    seen.updates
      .map((update) => (update.sessionUpdate === voice && update.content.type === 'text' ? update.content.text : ''))
      .join('')
  return {
    agent,
    seen,
    initialize: () => agent.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} }),
    begin: (cwd: string) => agent.request(acp.methods.agent.session.new, { cwd, mcpServers: [] }),
    prompt: (sessionId: string, text: string) =>
      agent.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    /** The words of the agent, as one text. */
    text: () => said('agent_message_chunk'),
    /** What termaite says beside the answer, to an editor that has no place for notices. */
    thoughts: () => said('agent_thought_chunk'),
    async close() {
      const exited = child.exitCode === null ? once(child, 'exit') : [child.exitCode]
      child.stdin!.end()
      const [code] = await exited
      connection.close()
      return { code, faults: frameFaults(heard.frames(), sent.frames()) }
    },
  }
}

function recorder() {
  const chunks: Buffer[] = []
  const through = new PassThrough()
  through.on('data', (chunk: Buffer) => chunks.push(chunk))
  return {
    through,
    frames: () =>
      Buffer.concat(chunks)
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown),
  }
}
