import type { Profile, Dialect, Step } from '../core/profile/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './shared/failure-signs.ts'
import type { Failure } from '../core/talk/outcome.ts'
import type { Loose } from './shared/jsonl.ts'
import { join } from 'node:path'
import { shellWord } from '../base/text/shell-word.ts'
import { opencodePast } from './opencode-past.ts'
import { acpLeashes } from './shared/acp-leashes.ts'
import { providerSignsAfter, providerSigns, readMessage, failureBySigns } from './shared/failure-signs.ts'
import { commandLine, hasFlag, option } from './shared/command-words.ts'
import { TurnAccount } from './shared/turn-account.ts'
import { idOf, loose, numberOf, parseLine, textOf } from './shared/jsonl.ts'
import { providerKeys } from '../core/profile/key-variables.ts'
import { cacheFolder, configFolder, dataFolder, stateFolder } from './shared/home-folders.ts'

const own: readonly Sign[] = [
  {
    kind: 'quota',
    says: /\bFreeUsageLimitError\b|Free usage exceeded/,
    said: '429: {"type":"FreeUsageLimitError","message":"Rate limit exceeded. Please try again later."}',
  },
  {
    kind: 'quota',
    says: /\bGoUsageLimitError\b|[Uu]sage limit reached\. It will reset in/,
    said: '5-hour usage limit reached. It will reset in 2 hours 11 minutes. To continue using this model now, enable usage from your available balance',
  },
  {
    kind: 'auth',
    says: /Provider .{0,60}(?:not authenticated|requires (?:an )?API key)/i,
    said: 'Provider "anthropic" requires an API key',
  },
]

export const signs: readonly Sign[] = [...own, ...providerSigns]
const shown: readonly Sign[] = [...own, ...providerSignsAfter(/^(?:Error|ERROR): /)]

/** In text mode opencode prints errors only to stderr, after `Error: `. */
const failure = failureBySigns(shown)

/**
 * Tools that only read. The rule `*` governs all others, including MCP tools, and they are also listed by name, so that no setting of
 * opencode's own allows them.
 */
const looking = { read: 'allow', glob: 'allow', grep: 'allow', list: 'allow', webfetch: 'allow', todowrite: 'allow' }

/** Without `continue_loop_on_deny` a rejected request would end the run without an answer. */
function ruled(rest: 'deny' | 'ask', edit: 'deny' | 'ask' | 'allow', command = 'opencode run --format json'): string {
  const permission = { '*': rest, ...looking, edit, bash: rest, task: rest, external_directory: rest }
  const config = { permission, experimental: { continue_loop_on_deny: true } }
  return `OPENCODE_CONFIG_CONTENT=${shellWord(JSON.stringify(config))} ${command}`
}

const commands: Record<Leash, string> = {
  read: ruled('deny', 'deny'),
  ask: ruled('ask', 'ask'),
  edit: ruled('ask', 'allow'),
  all: 'opencode run --format json --auto',
}

export const opencode: Profile = {
  name: 'opencode',
  title: 'OpenCode',
  vendor: 'OpenCode',
  words: ['opencode'],
  window: 200_000,
  command: ({ leash, resume, model }) =>
    commandLine(commands[leash], option('--model', model), option('--session', resume)),
  leashes: {
    read: 'reads and searches in the project and on the web; no shell, no edits, no subagents, no MCP tools',
    ask: 'refuses and reports what needs a yes, because a pipe cannot ask',
    edit: 'edits files in the project; the shell and other folders are refused and reported',
    all: 'runs everything that its own settings do not deny',
  },
  speaks: (command) => hasFlag(command, ['--format'], 'json'),
  dialect: () => opencodeDialect(),
  acp: {
    choosesInSession: true,
    command: ({ leash }) =>
      leash === 'read' ? ruled('deny', 'deny', 'opencode acp') : ruled('ask', 'ask', 'opencode acp'),
    leashes: acpLeashes,
    failure: (message, now) => readMessage(signs, message, now),
  },
  models: { names: [], list: 'opencode models' },
  // A variant of the model; opencode ignores a variant that the model does not have.
  effort: {
    levels: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    words: (level) => `--variant ${level}`,
  },
  reportsCost: true,
  resumes: true,
  // opencode retries limits and server errors forever without any message, and no setting changes that: silenceSeconds ends the turn.
  env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  failure,
  lostThread: ({ err }) => /^Error: Session not found/m.test(err),
  install: 'npm install -g opencode-ai',
  login: 'opencode auth login',
  version: 'opencode --version',
  traces: {
    files: ['.local/share/opencode/auth.json'],
    env: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
  },
  keys: [...providerKeys, 'OPENCODE_API_KEY'],
  projectFiles: ['opencode.json', 'opencode.jsonc', '.opencode'],
  // OPENCODE_DISABLE_PROJECT_CONFIG disables the project's settings and MCP servers, but 1.18.18 runs the project's plugins anyway.
  guard: ({ trusted }) => (trusted ? {} : { refuses: true }),
  files: (place) => {
    const own = dataFolder(place, 'opencode')
    const others = [configFolder, cacheFolder, stateFolder].map((folder) => folder(place, 'opencode'))
    return {
      folders: [own, ...others],
      sessions: [join(own, 'storage')],
      returned: [{ path: join(own, 'auth.json') }],
    }
  },
  mcp: {
    file: ({ home, env }) => join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode', 'opencode.json'),
    format: 'json',
    path: ['mcp'],
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  },
  unsafe: /\s--auto\b/,
  past: opencodePast,
  belongings: async () => (await import('./opencode-belongings.ts')).opencodeBelongings,
}

/** Tools that a leash removes; a call to any other unknown tool is the model's own mistake. */
const leashed = new Set(['bash', 'edit', 'write', 'apply_patch', 'webfetch', 'task'])

/** `opencode run --format json`: each part is printed once, when it is complete. */
function opencodeDialect(): Dialect {
  const account = new TurnAccount()
  const errors: Loose[] = []
  let thread: string | undefined

  function used(part: Loose): Step[] {
    const { callID, tool, state } = part
    const { status, input, output, error } = loose(state)
    // A call to an unknown tool is printed as a call of the tool `invalid`, with the name inside.
    const missing = tool === 'invalid'
    const name = textOf(missing ? loose(input).tool : tool) ?? 'tool'
    const ok = status === 'completed' && !missing
    const text = textOf(ok ? output : (error ?? output)) ?? ''
    const refused = /^The user (?:rejected|has specified a rule)/.test(text)
    if (refused || (missing && leashed.has(name))) account.deny(name, missing ? undefined : input)
    const call = idOf(callID)
    return [
      { type: 'call', call, tool: name, input },
      { type: 'result', call, ok, text },
    ]
  }

  function spent({ tokens, cost, reason }: Loose): void {
    const { input, output, reasoning, cache } = loose(tokens)
    const cached = numberOf(loose(cache).read)
    account.spend({
      input: numberOf(input) + cached + numberOf(loose(cache).write),
      output: numberOf(output) + numberOf(reasoning),
      cached,
      cost: numberOf(cost),
    })
    if (reason !== 'tool-calls') account.done()
  }

  function errorFailure({ name, data }: Loose, now: number): Failure {
    const { message, statusCode, responseBody } = loose(data)
    const words = textOf(message) ?? textOf(name) ?? 'it ended with an error'
    if (name === 'ContextOverflowError') return { kind: 'overflow', message: words }
    if (name === 'ProviderAuthError') return { kind: 'auth', message: words }
    // The body shows the kind of failure if the message does not, but people read the message.
    const found = readMessage(signs, `${numberOf(statusCode) || ''} ${words} ${textOf(responseBody) ?? ''}`, now)
    return { kind: 'crash', ...found, message: words }
  }

  function steps(event: Loose): Step[] {
    const part = loose(event.part)
    switch (event.type) {
      case 'step_start':
        account.goOn()
        return []
      case 'text':
        account.say(textOf(part.text) ?? '')
        return [{ type: 'text', delta: `${textOf(part.text) ?? ''}\n` }]
      case 'reasoning':
        return [{ type: 'thought', delta: `${textOf(part.text) ?? ''}\n` }]
      case 'tool_use':
        return used(part)
      case 'step_finish':
        spent(part)
        return []
      case 'error':
        errors.push(loose(event.error))
        return []
      default:
        return []
    }
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      const key = textOf(event.sessionID)
      if (key === undefined || key === thread) return steps(event)
      thread = key
      return [{ type: 'thread', key }, ...steps(event)]
    },
    end(ended) {
      const last = errors.at(-1)
      if (last) account.fail(errorFailure(last, ended.now))
      return account.end('opencode', ended, failure)
    },
  }
}
