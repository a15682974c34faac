// A server of the tests, over stdin and stdout: `node scripted.ts '{"era":"modern"}'`.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { hostileData, usualData } from './scripted-data.ts'

export type Script = {
  /** The greeting that the server understands. */
  era?: 'legacy' | 'modern'
  /** The number of tools beyond its usual ones. */
  more?: number
  /** The default of the text that `echo` requires. */
  usual?: string
  /** Printed where only messages belong. */
  banner?: string
  /** Ends before it ever answers. */
  dead?: string
  /** Answers nothing until this file is there. */
  awaits?: string
  /** Never answers at all. */
  mute?: boolean
  /** Written to when its input ended. */
  farewell?: string
  /** Stays when its input ended, as a child of it does; both pids are written here. */
  stubborn?: string
  /** Has resources and prompts. */
  data?: 'usual' | 'hostile'
  /** Has a tool of this name too. */
  also?: string
}

type Message = {
  id?: number | string
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: unknown
}

const script = JSON.parse(process.argv[2] ?? '{}') as Script
while (script.awaits !== undefined && !existsSync(script.awaits)) await setTimeout(20)
const modern = script.era === 'modern'
const text = (words: string) => ({ content: [{ type: 'text', text: words }] })
const object = (properties: Record<string, unknown> = {}, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
})
const string = { type: 'string' }
const said = script.usual === undefined ? string : { ...string, default: script.usual }

const tools = [
  { name: 'echo', description: 'Says again what it is told.', inputSchema: object({ text: said }, ['text']) },
  {
    name: 'sum',
    description: 'Adds two numbers up.',
    inputSchema: object(),
    outputSchema: object({ sum: { type: 'number' } }),
  },
  { name: 'draw', description: 'Gives a picture, a sound and a file.', inputSchema: object() },
  { name: 'fail', description: 'Fails in its own words.', inputSchema: object() },
  { name: 'wait', description: 'Tells how far it is, and never ends.', inputSchema: object() },
  { name: 'heard', description: 'Gives what was cancelled.', inputSchema: object() },
  { name: 'ask', description: 'Asks the person for a colour.', inputSchema: object() },
  { name: 'sample', description: 'Wants to use our model.', inputSchema: object() },
  { name: 'roots', description: 'Wants to know where it is.', inputSchema: object() },
  { name: 'env', description: 'Gives a variable of its environment.', inputSchema: object({ name: string }, ['name']) },
  { name: 'die', description: 'Ends without an answer.', inputSchema: object() },
  { name: 'grow', description: 'Learns another tool.', inputSchema: object() },
  ...Array.from({ length: script.more ?? 0 }, (_, i) => ({
    name: `more_${i}`,
    description: `The tool number ${i} of many.`,
    inputSchema: object(),
  })),
]

if (script.also !== undefined)
  tools.push({ name: script.also, description: 'A tool that was asked for.', inputSchema: object() })

// The newer protocol has no such tasks.
const task = { ...tools[0]!, name: 'task', execution: { taskSupport: 'required' } }
if (!modern) tools.push(task)

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const waiting = new Map<number, (answer: Message) => void>()
const waits: unknown[] = []
const cancelled: unknown[] = []
let asked = 0

const usual = usualData((method) => send({ method }))
const data = { usual: usual.reply, hostile: hostileData }

/** The old way of wanting something from the client. */
const request = (method: string, params: object) =>
  new Promise<Message>((resolve) => {
    waiting.set(++asked, resolve)
    send({ id: asked, method, params })
  })

const form = {
  mode: 'form',
  message: 'Which colour?',
  requestedSchema: {
    type: 'object',
    properties: { colour: { type: 'string', enum: ['red', 'blue'] }, size: { type: 'integer', default: 3 } },
    required: ['colour'],
  },
}

async function call(id: number | string, params: Record<string, unknown>): Promise<object> {
  const args = (params.arguments ?? {}) as Record<string, string>
  switch (params.name) {
    case 'echo':
      return text(args.text!)
    case 'sum':
      return { content: [], structuredContent: { sum: 3 } }
    case 'draw':
      return {
        content: [
          { type: 'text', text: 'Here it is.' },
          { type: 'image', data: 'aW1n', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside a' } },
          { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'AAEC' } },
          { type: 'resource_link', name: 'c', uri: 'file:///c.txt' },
        ],
      }
    case 'fail':
      return { ...text('The moon is closed.'), isError: true }
    case 'wait': {
      const token = (params._meta as { progressToken?: number } | undefined)?.progressToken
      send({
        method: 'notifications/progress',
        params: { progressToken: token, progress: 1, total: 2, message: 'half' },
      })
      return new Promise(() => waits.push(id))
    }
    case 'heard':
      return text(cancelled.map((one) => (waits.includes(one) ? 'wait' : String(one))).join())
    case 'ask': {
      if (!modern) return text(JSON.stringify((await request('elicitation/create', form)).result))
      const given = (params.inputResponses as Record<string, unknown> | undefined)?.colour
      if (given) return text(JSON.stringify(given))
      return { resultType: 'input_required', inputRequests: { colour: { method: 'elicitation/create', params: form } } }
    }
    case 'sample': {
      const messages = [{ role: 'user', content: { type: 'text', text: 'hi' } }]
      return text(JSON.stringify((await request('sampling/createMessage', { messages, maxTokens: 1 })).error))
    }
    case 'roots':
      return text(JSON.stringify((await request('roots/list', {})).result))
    case 'env':
      return text(process.env[args.name!] ?? 'not set')
    case 'die':
      process.stderr.write('out of coffee\n')
      process.exit(3)
      break
    case 'grow':
      tools.push({ name: 'grown', description: 'A tool that came late.', inputSchema: object() })
      if (!modern) send({ method: 'notifications/tools/list_changed' })
      if (script.data) usual.grow()
      return text('done')
  }
  return text(`I am ${String(params.name)}.`)
}

async function answer({ id, method, params = {} }: Message): Promise<void> {
  const reply = (result: object) => send({ id, result: modern ? { resultType: 'complete', ...result } : result })
  const refuse = (code: number, message: string) => send({ id, error: { code, message } })
  const listChanged = !modern
  const more = script.data ? { resources: { listChanged }, prompts: { listChanged }, completions: {} } : {}
  const about = { capabilities: { tools: { listChanged }, ...more }, instructions: 'Ask me for the moon.' }
  const serverInfo = { name: 'scripted', version: '1.0' }
  if (method === 'initialize' && !modern) return void reply({ ...about, protocolVersion: '2025-06-18', serverInfo })
  if (method === 'server/discover' && modern)
    return void reply({
      ...about,
      supportedVersions: ['2026-07-28'],
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
    })
  if (method === 'tools/list') return void reply({ tools, ...(modern ? { ttlMs: 0, cacheScope: 'private' } : {}) })
  if (method === 'tools/call') return void reply(await call(id!, params))
  const found = script.data && data[script.data](String(method), params)
  if (found) return void reply({ ...found, ...(modern ? { ttlMs: 0, cacheScope: 'private' } : {}) })
  if (script.data && method === 'resources/read') return void refuse(-32602, `Resource ${String(params.uri)} not found`)
  refuse(-32601, `no ${method}`)
}

if (script.dead !== undefined) {
  process.stderr.write(`${script.dead}\n`)
  process.exit(1)
}
if (script.stubborn) {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' })
  writeFileSync(script.stubborn, JSON.stringify([process.pid, child.pid]))
  setInterval(() => {}, 1e6)
}
if (script.banner) process.stdout.write(`${script.banner}\n`)
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const message = JSON.parse(line) as Message
  if (script.mute) return
  if (message.method === 'notifications/cancelled') cancelled.push(message.params?.requestId)
  else if (message.method === undefined) waiting.get(message.id as number)?.(message)
  else if (message.id !== undefined) void answer(message)
})
lines.on('close', () => {
  if (script.stubborn) return
  if (script.farewell) writeFileSync(script.farewell, 'gone')
  process.exit(0)
})
