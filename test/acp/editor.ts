import type { ClientCapabilities, RequestPermissionResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import type { TestContext } from 'node:test'
import type { EditorDesk, EditorDesks } from '../../src/acp/editor-desk.ts'
import type { Script } from '../chat/scripted-desk.ts'
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import { HandClock, settled } from '../hand-clock.ts'
import { loadAcpSdk } from '../../src/acp/acp-sdk.ts'
import { serveAcp } from '../../src/acp/editor-agent.ts'
import { frameFaults } from '../agents/acp-frames.ts'
import { ScriptedDesk } from '../chat/scripted-desk.ts'

/** An editor desk over a scripted one, which remembers what was set. */
export class ScriptedEditorDesk implements EditorDesk {
  session: string
  cwd = '/project'
  desk: ScriptedDesk
  opened: EditorDesk['opened']
  modes: EditorDesk['modes'] = [
    { id: 'chat', name: 'Chat', means: 'everybody' },
    { id: 'plan', name: 'Plan', means: 'only plan' },
  ]
  nextAgents: (string | undefined)[] = []
  busy = false
  closed = false

  constructor(session: string, script: Script = {}) {
    this.session = session
    this.desk = new ScriptedDesk(script)
    const entries = [...(script.entries ?? [])]
    const shown = entries.slice(-(script.shown ?? (entries.length || 1)))
    this.opened = { entries: shown, more: shown.length < entries.length }
  }

  /** Why the desk does not take a mode. */
  refuses: string | undefined

  async setMode(mode: 'chat' | 'agent' | 'plan') {
    if (this.refuses !== undefined) throw new Error(this.refuses)
    this.desk.happen({ type: 'standing', standing: { ...this.desk.standing(), mode } })
  }

  setNextAgent(agent: string | undefined) {
    this.nextAgents.push(agent)
  }

  async idle() {}

  async close() {
    this.closed = true
  }
}

export type Frame = { id?: number; method?: string; params?: any; result?: any; error?: any }

/** An editor that speaks the wire itself; every frame that it hears is checked against the protocol's own schema. */
export async function editorAt(
  context: TestContext,
  desks: Partial<EditorDesks>,
  capabilities: ClientCapabilities = {},
  answer: (params: any, method: string) => unknown = () => ({ outcome: { outcome: 'cancelled' } }),
) {
  const [input, out, stop] = [new PassThrough(), new PassThrough(), new AbortController()]
  const none: EditorDesks = { begin: unwanted, resume: async () => undefined, list: async () => [] }
  const parts = { sdk: await loadAcpSdk(), desks: { ...none, ...desks }, clock: new HandClock(), version: '1.2.3' }
  const over = serveAcp(parts, { in: input, out, signal: stop.signal })
  const [sent, heard]: [Frame[], Frame[]] = [[], []]
  const waiting = new Map<number, (frame: Frame) => void>()
  let count = 0
  const send = (frame: Frame) => {
    sent.push(frame)
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`)
  }
  createInterface({ input: out }).on('line', (line) => {
    const frame = JSON.parse(line) as Frame
    heard.push(frame)
    if (frame.method === undefined) waiting.get(frame.id!)?.(frame)
    else if (frame.id !== undefined) void respond(frame)
  })
  const respond = async ({ id, params, method }: Frame) => {
    const result = await answer(params, method!)
    if (result !== undefined) send({ id: id!, result })
  }
  const request = (method: string, params: object) =>
    new Promise<Frame>((resolve) => {
      const id = count++
      waiting.set(id, resolve)
      send({ id, method, params })
    })
  context.after(async () => {
    input.end()
    await over
    assert.deepEqual(frameFaults(heard, sent), [])
  })
  await request('initialize', { protocolVersion: 1, clientCapabilities: capabilities })
  return {
    request,
    send,
    heard,
    over,
    input,
    stop: () => stop.abort(),
    prompt: (sessionId: string, text: string) =>
      request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    /** The updates since the last look, without marks that differ each time. */
    async updates(): Promise<SessionUpdate[]> {
      await settled()
      const updates = heard.splice(0).filter(({ method }) => method === 'session/update')
      return updates.map(({ params: { update } }) => {
        const { messageId: _, ...rest } = update
        return rest
      })
    },
  }
}

const unwanted = async (): Promise<never> => {
  throw new Error('nobody opens anything here')
}

export const picked = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } })

export const said = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
