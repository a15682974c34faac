// A stand-in for a CLI with a plan mode: node planning-cli.ts <protocol> <arguments of the CLI>. It notes how it was started and what it was
// asked, plans where it was started to plan, and otherwise builds by making the file that the prompt names.
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

type Message = Record<string, any>

const [protocol = '', ...started] = process.argv.slice(2)
const print = (message: object) => console.log(JSON.stringify(message))
const note = (words: object) => appendFileSync(join(process.env.HOME!, 'started.jsonl'), `${JSON.stringify(words)}\n`)
const build = () => writeFileSync('painted.txt', 'red\n')

const protocols: Record<string, (message: Message) => void> = {
  claude({ type, message, response }) {
    const mode = started[started.indexOf('--permission-mode') + 1]
    if (type === 'control_response') {
      note({ mode, answer: response.response })
      return print({ type: 'result', subtype: 'error_during_execution', is_error: true })
    }
    if (type !== 'user') return
    note({ mode, prompt: message.content })
    print({ type: 'system', subtype: 'init', session_id: 'k', capabilities: [] })
    if (mode !== 'plan') {
      build()
      return print({ type: 'result', subtype: 'success', is_error: false, result: 'Painted.' })
    }
    const blocks = [
      { type: 'text', text: '# Paint it red' },
      { type: 'tool_use', id: 't', name: 'ExitPlanMode', input: {} },
    ]
    for (const block of blocks) print({ type: 'assistant', message: { id: 'm', content: [block] } })
    const request = { subtype: 'can_use_tool', tool_name: 'ExitPlanMode', tool_use_id: 't', input: {} }
    print({ type: 'control_request', request_id: 'r', request })
  },
  codex({ id, method, params }) {
    if (id === undefined) return
    const thread = { id: 'k', cwd: process.cwd() }
    const modes = started.includes('--no-modes') ? undefined : [{ name: 'Plan', mode: 'plan' }]
    const results: Record<string, object | undefined> = {
      initialize: {},
      'thread/start': { thread, model: 'm' },
      'thread/resume': { thread, model: 'm', collaborationMode: { mode: 'plan' } },
      'collaborationMode/list': modes && { data: modes },
      'turn/start': { turn: { id: 'turn' } },
    }
    const result = results[method]
    print(result ? { id, result } : { id, error: { code: -32600, message: 'not known' } })
    if (method !== 'turn/start') return
    const { mode } = params.collaborationMode ?? {}
    note({ mode, sandbox: started.join(' '), prompt: params.input[0].text })
    const isPlanning = mode === 'plan'
    const item = isPlanning
      ? { id: 'i', type: 'plan', text: '# Paint it red\n' }
      : { id: 'i', type: 'agentMessage', text: 'Painted.' }
    if (!isPlanning) build()
    print({ method: 'item/completed', params: { threadId: 'k', item } })
    print({ method: 'turn/completed', params: { threadId: 'k', turn: { id: 'turn', status: 'completed' } } })
  },
}

createInterface({ input: process.stdin }).on('line', (line) => protocols[protocol]!(JSON.parse(line)))
