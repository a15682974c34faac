import type { Leash } from '../../src/core/work/agent.ts'
import type { Answer, Script, Trouble } from './model-server.ts'

/** One run of a real CLI worth recording. */
export type Scenario = {
  leash: Leash
  script: Script
  /** Variables to set, or to take away. */
  env?: Record<string, string | undefined>
  /** `lost`: on a thread nobody has; `second`: the second turn of a thread. */
  thread?: 'lost' | 'second'
}

type Call = { tool: string; input: unknown }

/** The tools of one CLI that look and that act, how its login is taken away, and what its provider calls a spent quota. */
type Ways = { look: Call; act: Call; loggedOut: Record<string, undefined>; spent: Record<string, Scenario> }

const always =
  (answer: Answer): Script =>
  () =>
    answer
const first =
  (answer: Answer, then: Answer): Script =>
  (asked) =>
    asked.count === 1 ? answer : then
const trouble = (error: Trouble): Scenario => ({ leash: 'read', script: always({ error }) })

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\nEOF"

/** Claude's usage windows exist for a subscription alone. */
const subscription = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'made-up' }

const waysOf: Record<string, Ways> = {
  claude: {
    look: { tool: 'Bash', input: { command: 'cat a.txt', description: 'look' } },
    act: { tool: 'Write', input: { file_path: 'new.txt', content: 'new\n' } },
    loggedOut: { ANTHROPIC_API_KEY: undefined },
    spent: { plan: { ...trouble('plan'), env: subscription }, credit: trouble('credit') },
  },
  gemini: {
    look: { tool: 'read_file', input: { file_path: 'a.txt' } },
    act: { tool: 'write_file', input: { file_path: 'new.txt', content: 'new\n' } },
    loggedOut: { GEMINI_API_KEY: undefined },
    spent: { plan: trouble('plan'), quota: trouble('quota') },
  },
  codex: {
    look: { tool: 'exec_command', input: { cmd: 'cat a.txt' } },
    act: { tool: 'exec_command', input: { cmd: patch } },
    loggedOut: { MOCK_API_KEY: undefined },
    spent: { plan: trouble('plan'), quota: trouble('quota') },
  },
}

export function scenariosOf(cli: string): Record<string, Scenario> {
  const { look, act, loggedOut, spent } = waysOf[cli]!
  return {
    answer: { leash: 'read', script: always({ text: 'Hello there.', thought: 'A greeting.' }) },
    look: { leash: 'ask', script: first({ text: 'Looking.', call: look }, { text: 'It says hi.' }) },
    edit: { leash: 'edit', script: first({ call: act }, { text: 'Made it.' }) },
    denied: { leash: 'ask', script: first({ call: act }, { text: 'I may not.' }) },
    all: { leash: 'all', script: first({ call: act }, { text: 'Made it.' }) },
    second: { leash: 'read', script: always({ text: 'Hello again.' }), thread: 'second' },
    lost: { leash: 'read', script: always({ text: 'Hello there.' }), thread: 'lost' },
    refusal: { leash: 'read', script: always({ refusal: 'I cannot help with that.' }) },
    drop: { leash: 'read', script: always({ drop: 'Half an' }) },
    rate: trouble('rate'),
    ...spent,
    key: trouble('key'),
    server: trouble('server'),
    overloaded: trouble('overloaded'),
    overflow: trouble('overflow'),
    login: { leash: 'read', script: always({ text: 'Hello there.' }), env: loggedOut },
  }
}
