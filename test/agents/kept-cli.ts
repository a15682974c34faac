// A stand-in for a CLI that takes prompt after prompt: node kept-cli.ts <protocol> <leash> <model> <words for an effort>. Its answer names its
// process, the number of the prompt, its leash, model and effort, and the changes since the last prompt; words of the prompt say what
// else it does. On SIGUSR2 it acts without a prompt.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { closeSync, writeFileSync } from 'node:fs'

type Message = Record<string, any>

const [protocol = '', leash = '', model = 'own', ...words] = process.argv.slice(2)
const print = (message: object) => console.log(JSON.stringify(message))

let prompts = 0
const now = { leash, model, effort: words.at(-1)?.split('=').at(-1) ?? 'own' }

/** The changes that the program has made since its last prompt, and how it answers a request for one. */
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

/** How a protocol tells of a turn. */
type Telling = {
  /** A command begins, or is over. */
  calls(id: string): void
  called(id: string): void
  /** Something is not allowed; `then` is called once that is settled. */
  isRefused(then: () => void): void
  /** Another agent works for this one, and goes on after the turn. */
  delegates?(): void
  /** The answer, which ends the turn. */
  say(text: string): void
}

/** Takes a prompt. */
function take(prompt: string, turn: Telling): void {
  prompts++
  if (prompt.includes('it dies')) process.exit(3)
  if (prompt.includes('it hangs')) return
  if (prompt.includes('it babbles')) console.log('no message of the protocol')
  if (prompt.includes('it refuses changes')) changes = 'refused'
  if (prompt.includes('it ignores changes')) changes = 'ignored'
  const heard = told.splice(0).map((one) => `, ${one}`)
  if (prompt.includes('it goes on')) turn.calls('endless')
  if (prompt.includes('it logs in')) writeFileSync(process.env.LOGIN!, '{"tokens":"fresh","claudeAiOauth":"fresh"}')
  if (prompt.includes('it delegates')) turn.delegates?.()
  const seconds = /it leaves a (child|daemon)/.exec(prompt)?.[1] === 'child' ? '97' : '96'
  if (prompt.includes('it leaves a')) {
    turn.calls('left')
    spawn('sleep', [seconds], { stdio: 'ignore', detached: prompt.includes('daemon') }).unref()
    turn.called('left')
  }
  if (prompt.includes('a hook leaves')) spawn('sleep', ['95'], { stdio: 'ignore' }).unref()
  const say = () => {
    turn.say(`pid ${process.pid} prompt ${prompts} ${Object.values(now).join(' ')}${heard.join('')}`)
    if (prompt.includes('it babbles')) console.log('no message of the protocol')
  }
  if (prompt.includes('it is refused')) turn.isRefused(say)
  else say()
  process.once('SIGUSR2', () => turn.calls('late'))
  afterwards = () => {
    afterwards = () => {}
    if (/it leaves\./.test(prompt)) process.exit(0)
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

/** The ACP requests of ours that wait for their answer. */
const requests = new Map<string, () => void>()

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
    const permission_denials: object[] = []
    const block = (type: string, role: string, content: object) =>
      print({ type, message: { role, content: [content] } })
    take(message.content, {
      calls: (id) => block('assistant', 'assistant', { type: 'tool_use', id, name: 'Bash', input: {} }),
      called: (id) => block('user', 'user', { type: 'tool_result', tool_use_id: id, content: '' }),
      delegates() {
        const tasks = [{ task_id: 'its', task_type: 'local_agent', description: 'works' }]
        print({ type: 'system', subtype: 'background_tasks_changed', tasks })
      },
      isRefused(then) {
        permission_denials.push({ tool_name: 'Write', tool_input: { file_path: 'new.txt' } })
        then()
      },
      say(result) {
        const usage = { input_tokens: 100, output_tokens: 5 }
        print({ type: 'system', subtype: 'init', session_id: 'k', capabilities: [] })
        print({ type: 'result', subtype: 'success', is_error: false, result, usage, permission_denials })
      },
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
    const item = (method: string, item: object) => print({ method: `item/${method}`, params: { threadId, item } })
    const command = { type: 'commandExecution', command: 'touch new.txt' }
    take(params.input[0].text, {
      calls: (id) => item('started', { ...command, id, status: 'inProgress' }),
      called: (id) => item('completed', { ...command, id, status: 'completed' }),
      isRefused(then) {
        item('completed', { ...command, id: 'refused', status: 'declined' })
        then()
      },
      delegates: () => print({ method: 'turn/started', params: { threadId: 'helper', turn: { id: 'its' } } }),
      say(text) {
        // An app-server counts a thread from its beginning.
        const total = { inputTokens: 100 * prompts, cachedInputTokens: 0, outputTokens: 5 * prompts }
        item('completed', { id: 'i', type: 'agentMessage', text })
        print({ method: 'thread/tokenUsage/updated', params: { threadId, tokenUsage: { total } } })
        print({ method: 'turn/completed', params: { threadId, turn: { id: 'turn', status: 'completed' } } })
      },
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
    const over = (toolCallId: string, toolName: string, text: string, isError: boolean) =>
      print({
        type: 'tool_execution_end',
        toolCallId,
        toolName,
        result: { content: [{ type: 'text', text }] },
        isError,
      })
    take(message, {
      calls: (toolCallId) => print({ type: 'tool_execution_start', toolCallId, toolName: 'bash', args: {} }),
      called: (id) => over(id, 'bash', '', false),
      isRefused(then) {
        const call = { toolCallId: 'refused', toolName: 'write', args: { path: 'new.txt' } }
        print({ type: 'tool_execution_start', ...call })
        over(call.toolCallId, call.toolName, 'Tool write not found', true)
        then()
      },
      say(text) {
        const usage = { input: 100, output: 5, cacheRead: 0, cacheWrite: 0 }
        const content = [{ type: 'text', text }]
        print({ type: 'message_end', message: { role: 'assistant', content, usage, stopReason: 'stop' } })
        print({ type: 'agent_settled' })
      },
    })
  },
  acp({ id, method, params }) {
    const reply = (result: object) => print({ jsonrpc: '2.0', id, result })
    const modes = {
      currentModeId: 'ask',
      availableModes: ['read', 'ask', 'edit', 'all'].map((one) => ({ id: one, name: one })),
    }
    if (id === undefined) return
    if (method === undefined) return requests.get(id)?.()
    if (method === 'initialize') return reply({ protocolVersion: 1, agentCapabilities: { loadSession: true } })
    if (method === 'session/new') return reply({ sessionId: 'k', modes })
    if (method === 'session/load') return reply({ modes })
    if (method === 'session/set_mode') {
      now.leash = params.modeId
      return reply({})
    }
    if (method !== 'session/prompt') return print({ jsonrpc: '2.0', id, error: { code: -32601, message: 'not known' } })
    const sessionId = 'k'
    const update = (update: object) =>
      print({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })
    take(params.prompt[0].text, {
      calls: (toolCallId) =>
        update({ sessionUpdate: 'tool_call_update', toolCallId, title: 'run', kind: 'execute', status: 'in_progress' }),
      called: (toolCallId) => update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' }),
      isRefused(then) {
        const options = [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'no', name: 'No', kind: 'reject_once' },
        ]
        const toolCall = { toolCallId: 'refused', title: 'new.txt', kind: 'edit' }
        requests.set('permission', then)
        const params = { sessionId, toolCall, options }
        print({ jsonrpc: '2.0', id: 'permission', method: 'session/request_permission', params })
      },
      say(text) {
        update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
        const token_count = { input_tokens: 100, output_tokens: 5 }
        reply({ stopReason: 'end_turn', _meta: { quota: { token_count } } })
      },
    })
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  protocols[protocol]!(message)
  // A turn of pi is over once pi has also said that it has nothing left to do.
  if (protocol !== 'pi' || (message.type === 'get_state' && message.id === 'prompt')) afterwards()
})
