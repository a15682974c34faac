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
  /** The answers to the CLI's questions, in turn; nobody answers further ones, and without this list no person is there. */
  picks?: string[][]
}

type Call = { tool: string; input: unknown }

/**
 * The tools of one CLI that look and that act, how its login is taken away, and what its provider calls a spent quota;
 * `more` are runs that only this CLI has.
 */
type Ways = {
  look: Call
  act: Call
  loggedOut: Record<string, string | undefined>
  spent: Record<string, Scenario>
  more?: Record<string, Scenario>
}

const always =
  (answer: Answer): Script =>
  () =>
    answer
const first =
  (answer: Answer, then: Answer): Script =>
  (asked) =>
    asked.count === 1 ? answer : then
/** One call after the other, then the last words. */
const calls =
  (...all: Call[]): Script =>
  ({ count }) =>
    count <= all.length ? { call: all[count - 1]! } : { text: 'That is all.' }
const trouble = (error: Trouble): Scenario => ({ leash: 'read', script: always({ error }) })

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\nEOF"

/** Claude's usage windows exist for a subscription alone. */
const subscription = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'made-up' }

const bash = (command: string): Call => ({ tool: 'Bash', input: { command, description: 'makes a file' } })
const write: Call = { tool: 'Write', input: { file_path: 'new.txt', content: 'new\n' } }
const change = { file_path: 'a.txt', old_string: 'hi', new_string: 'ho' }
const colour = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ],
}
const shape = { ...colour, question: 'Which shapes?', header: 'Shapes', multiSelect: true }

/** The scenarios of Claude Code in which it can ask. */
const claudeAsks: Record<string, Scenario> = {
  blocked: { leash: 'read', script: calls(write) },
  allowed: { leash: 'ask', script: calls(bash('touch made.txt')), picks: [['once']] },
  turn: { leash: 'ask', script: calls(bash('touch made.txt'), bash('touch made.txt')), picks: [['turn']] },
  always: { leash: 'ask', script: calls(bash('touch made.txt'), bash('touch made.txt')), picks: [['always']] },
  words: { leash: 'ask', script: calls(write), picks: [['Put it elsewhere.']] },
  change: {
    leash: 'ask',
    script: calls({ tool: 'Read', input: { file_path: 'a.txt' } }, { tool: 'Edit', input: change }),
    picks: [['once']],
  },
  question: {
    leash: 'ask',
    script: calls({ tool: 'AskUserQuestion', input: { questions: [colour, shape] } }),
    picks: [['Blue'], ['Red', 'a star']],
  },
  unanswered: { leash: 'ask', script: calls({ tool: 'AskUserQuestion', input: { questions: [colour] } }), picks: [] },
  limits: {
    leash: 'read',
    env: subscription,
    script: always({
      text: 'Hello there.',
      headers: {
        'anthropic-ratelimit-unified-status': 'allowed_warning',
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
        'anthropic-ratelimit-unified-reset': '1794762000',
        'anthropic-ratelimit-unified-5h-utilization': '0.93',
        'anthropic-ratelimit-unified-5h-reset': '1794762000',
        'anthropic-ratelimit-unified-7d-utilization': '0.4',
        'anthropic-ratelimit-unified-7d-reset': '1795176000',
      },
    }),
  },
}

const exec = (cmd: string): Call => ({ tool: 'exec_command', input: { cmd } })
const escalated = (cmd: string): Call => ({
  tool: 'exec_command',
  input: { cmd, sandbox_permissions: 'require_escalated', justification: 'It must be made.', prefix_rule: ['touch'] },
})
const update = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-hi\n+ho\n*** End Patch\nEOF"

/** The scenarios of Codex in which it can ask. */
const codexAsks: Record<string, Scenario> = {
  blocked: { leash: 'read', script: calls(exec(patch)) },
  allowed: { leash: 'ask', script: calls(escalated('touch made.txt')), picks: [['once']] },
  turn: { leash: 'ask', script: calls(escalated('touch made.txt'), escalated('touch made.txt')), picks: [['turn']] },
  always: { leash: 'ask', script: calls(escalated('touch made.txt'), escalated('touch b.txt')), picks: [['always']] },
  words: { leash: 'ask', script: calls(escalated('touch made.txt')), picks: [['Put it elsewhere.']] },
  change: { leash: 'ask', script: calls(exec(update)), picks: [['once']] },
  limits: {
    leash: 'read',
    script: always({
      text: 'Hello there.',
      headers: {
        'x-codex-primary-used-percent': '93',
        'x-codex-primary-window-minutes': '300',
        'x-codex-primary-reset-at': '1794762000',
        'x-codex-secondary-used-percent': '12',
        'x-codex-secondary-window-minutes': '10080',
        'x-codex-secondary-reset-at': '1795176000',
      },
    }),
  },
}

const waysOf: Record<string, Ways> = {
  claude: {
    look: { tool: 'Bash', input: { command: 'cat a.txt', description: 'look' } },
    act: write,
    more: claudeAsks,
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
    look: exec('cat a.txt'),
    act: exec(patch),
    more: codexAsks,
    loggedOut: { MOCK_API_KEY: undefined },
    spent: { plan: trouble('plan'), quota: trouble('quota') },
  },
  pi: {
    look: { tool: 'read', input: { path: 'a.txt' } },
    act: { tool: 'write', input: { path: 'new.txt', content: 'new\n' } },
    loggedOut: { PI_CODING_AGENT_DIR: 'nowhere' },
    spent: { plan: trouble('plan'), quota: trouble('quota') },
  },
}

export function scenariosOf(cli: string): Record<string, Scenario> {
  const { look, act, loggedOut, spent, more } = waysOf[cli]!
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
    ...more,
  }
}
