// A stand-in for a CLI that takes prompt after prompt: node kept-cli.ts <protocol> <leash> <model> <words for an effort>. Its answer names its
// process, the number of the prompt, its leash, model and effort, and what it was told since the last prompt; words of the prompt say what
// else it does.
import { createInterface } from 'node:readline'
import { closeSync } from 'node:fs'

type Message = Record<string, any>

const [protocol = '', leash = '', model = 'own', ...words] = process.argv.slice(2)
const print = (message: object) => console.log(JSON.stringify(message))

let prompts = 0
const now = { leash, model, effort: words.at(-1)?.split('=').at(-1) ?? 'own' }

/** What the program was told since its last prompt, and how it answers that. */
let told: string[] = []
let changes: 'accepted' | 'refused' | 'ignored' = 'accepted'

/** Answers a request to change something: `accept` and `refuse` print the answers of the protocol. */
function change(what: string, to: Partial<typeof now>, accept: () => void, refuse: () => void): void {
  if (changes === 'ignored') return
  if (changes === 'refused') return refuse()
  told.push(what)
  Object.assign(now, to)
  accept()
}

/** What the program does once its turn is over. */
let afterwards = () => {}

/** Takes a prompt: `say` prints the answer of the turn. */
function take(prompt: string, say: (text: string) => void): void {
  prompts++
  if (prompt.includes('it dies')) process.exit(3)
  if (prompt.includes('it hangs')) return
  if (prompt.includes('it babbles')) console.log('no message of the protocol')
  if (prompt.includes('it refuses changes')) changes = 'refused'
  if (prompt.includes('it ignores changes')) changes = 'ignored'
  const heard = told.splice(0)
  say(`pid ${process.pid} prompt ${prompts} ${Object.values(now).join(' ')}${heard.map((one) => `, ${one}`).join('')}`)
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

const claudeModes: Record<string, string> = { default: 'ask', acceptEdits: 'edit' }

const codexLeashes: Record<string, string> = {
  'readOnly never': 'read',
  'readOnly on-request': 'ask',
  'workspaceWrite on-request': 'edit',
  'dangerFullAccess never': 'all',
}

const protocols: Record<string, (message: Message) => void> = {
  claude({ type, message, request_id, request }) {
    const respond = (response: object) => print({ type: 'control_response', response: { request_id, ...response } })
    const refuse = () => respond({ subtype: 'error', error: 'not known' })
    if (type === 'control_request') {
      const { subtype, mode, model, settings } = request
      const changed: Record<string, () => Partial<typeof now>> = {
        set_permission_mode: () => ({ leash: claudeModes[mode]! }),
        set_model: () => ({ model: model ?? 'own' }),
        apply_flag_settings: () => ({ effort: settings.effortLevel ?? 'own' }),
      }
      if (!changed[subtype]) return refuse()
      const what = `${subtype} ${mode ?? settings?.effortLevel ?? model ?? null}`
      return change(what, changed[subtype](), () => respond({ subtype: 'success' }), refuse)
    }
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
    const refuse = () => print({ id, error: { code: -32600, message: 'not known' } })
    if (method === 'config/read')
      return print({ id, result: { config: { sandbox_workspace_write: { writable_roots: ['/added'] } } } })
    if (method === 'thread/settings/update') {
      const { threadId: _, ...more } = params
      const { model = now.model, effort = now.effort, sandboxPolicy, approvalPolicy } = more
      const leash = sandboxPolicy ? codexLeashes[`${sandboxPolicy.type} ${approvalPolicy}`]! : now.leash
      return change(JSON.stringify(more), { leash, model, effort }, () => print({ id, result: {} }), refuse)
    }
    print(results[method] ? { id, result: results[method] } : { id, error: { code: -32600, message: 'not known' } })
    if (method !== 'turn/start') return
    const threadId = 'k'
    now.effort = params.effort ?? now.effort
    take(params.input[0].text, (text) => {
      print({ method: 'item/completed', params: { threadId, item: { id: 'i', type: 'agentMessage', text } } })
      print({ method: 'turn/completed', params: { threadId, turn: { id: 'turn', status: 'completed' } } })
    })
  },
  pi({ id, type, message, modelId, level }) {
    const state = { sessionId: 'k', isStreaming: false, pendingMessageCount: 0 }
    const models = ['other', 'third'].map((one) => ({ provider: 'mock', id: one }))
    const data = { get_state: state, get_available_models: { models } }[type as string]
    const answer = (success: boolean) => print({ id, type: 'response', command: type, success, data })
    const to = type === 'set_model' ? { model: modelId } : { effort: level }
    if (type === 'set_model' || type === 'set_thinking_level')
      return change(`${type} ${modelId ?? level}`, to, answer.bind(undefined, true), answer.bind(undefined, false))
    answer(true)
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
      now.leash = params.modeId
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
