// A stand-in for a CLI that takes prompt after prompt: node kept-cli.ts <protocol> <how it was started>. Its answer names its process, the
// number of the prompt, and how it was started; words of the prompt say what else it does.
import { createInterface } from 'node:readline'
import { closeSync } from 'node:fs'

type Message = Record<string, any>

const [protocol = '', ...started] = process.argv.slice(2)
const print = (message: object) => console.log(JSON.stringify(message))

let prompts = 0
let mode = started.join(' ')

/** What the program does once its turn is over. */
let afterwards = () => {}

/** Takes a prompt: `say` prints the answer of the turn. */
function take(prompt: string, say: (text: string) => void): void {
  prompts++
  if (prompt.includes('it dies')) process.exit(3)
  if (prompt.includes('it hangs')) return
  if (prompt.includes('it babbles')) console.log('no message of the protocol')
  say(`pid ${process.pid} prompt ${prompts} ${mode}`)
  if (prompt.includes('it babbles')) console.log('no message of the protocol')
  afterwards = () => {
    afterwards = () => {}
    if (prompt.includes('it leaves')) process.exit(0)
    if (prompt.includes('it stalls')) process.kill(process.pid, 'SIGSTOP')
    if (!prompt.includes('it goes deaf')) return
    closeSync(0)
    setInterval(() => {}, 1 << 30)
  }
}

const protocols: Record<string, (message: Message) => void> = {
  claude({ type, message, request_id }) {
    if (type === 'control_request')
      print({ type: 'control_response', response: { subtype: 'error', request_id, error: 'not known' } })
    if (type !== 'user') return
    take(message.content, (result) => {
      print({ type: 'system', subtype: 'init', session_id: 'k', capabilities: [] })
      print({
        type: 'result',
        subtype: 'success',
        is_error: false,
        result,
        usage: { input_tokens: 1, output_tokens: 1 },
      })
    })
  },
  codex({ id, method, params }) {
    const thread = { id: 'k', cwd: process.cwd() }
    const results: Record<string, object> = {
      initialize: {},
      'thread/start': { thread },
      'thread/resume': { thread },
      'turn/start': { turn: { id: 'turn' } },
      'turn/interrupt': {},
    }
    if (id === undefined) return
    print(results[method] ? { id, result: results[method] } : { id, error: { code: -32600, message: 'not known' } })
    if (method !== 'turn/start') return
    const threadId = 'k'
    take(params.input[0].text, (text) => {
      print({ method: 'item/completed', params: { threadId, item: { id: 'i', type: 'agentMessage', text } } })
      print({ method: 'turn/completed', params: { threadId, turn: { id: 'turn', status: 'completed' } } })
    })
  },
  pi({ id, type, message }) {
    const data = { sessionId: 'k', isStreaming: false, pendingMessageCount: 0 }
    print({ id, type: 'response', command: type, success: true, ...(type === 'get_state' ? { data } : {}) })
    if (type !== 'prompt') return
    print({ type: 'agent_start' })
    take(message, (text) => {
      const content = [{ type: 'text', text }]
      print({ type: 'message_end', message: { role: 'assistant', content, stopReason: 'stop' } })
      print({ type: 'agent_settled' })
    })
  },
  acp({ id, method, params }) {
    const reply = (result: object) => print({ jsonrpc: '2.0', id, result })
    const modes = {
      currentModeId: 'ask',
      availableModes: ['read', 'ask', 'edit', 'all'].map((one) => ({ id: one, name: one })),
    }
    if (id === undefined) return
    if (method === 'initialize') return reply({ protocolVersion: 1, agentCapabilities: { loadSession: true } })
    if (method === 'session/new') return reply({ sessionId: 'k', modes })
    if (method === 'session/load') return reply({ modes })
    if (method === 'session/set_mode') {
      mode = params.modeId
      return reply({})
    }
    if (method !== 'session/prompt') return print({ jsonrpc: '2.0', id, error: { code: -32601, message: 'not known' } })
    take(params.prompt[0].text, (text) => {
      const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }
      print({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 'k', update } })
      reply({ stopReason: 'end_turn' })
    })
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  protocols[protocol]!(message)
  // A turn of pi is over once pi has also said that it has nothing left to do.
  if (protocol !== 'pi' || (message.type === 'get_state' && message.id === 'prompt')) afterwards()
})
