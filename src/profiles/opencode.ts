import type { Ended, Profile } from '../core/work/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './signs.ts'
import { asking } from './asking.ts'
import { opencodeDialect } from './opencode-dialect.ts'
import { behind, providerSigns } from './providers.ts'
import { quote } from './quote.ts'
import { readMessage, readSigns } from './signs.ts'
import { hasFlag } from './words.ts'

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
const shown: readonly Sign[] = [...own, ...behind(/^(?:Error|ERROR): /)]

/** Errors of its text form stand on stderr alone, behind `Error: `. */
function failure(ended: Ended) {
  return ended.code === 0 ? undefined : readSigns(shown, { ...ended, out: '' })
}

/** What only looks; all else is ruled by `*` first, MCP tools among it, and by name, so that no setting of its own opens it. */
const looking = { read: 'allow', glob: 'allow', grep: 'allow', list: 'allow', webfetch: 'allow', todowrite: 'allow' }

/** A rejected question would end the run without an answer; so it goes on and says what it could not do. */
function ruled(rest: 'deny' | 'ask', edit: 'deny' | 'ask' | 'allow', command = 'opencode run --format json'): string {
  const permission = { '*': rest, ...looking, edit, bash: rest, task: rest, external_directory: rest }
  const config = { permission, experimental: { continue_loop_on_deny: true } }
  return `OPENCODE_CONFIG_CONTENT=${quote(JSON.stringify(config))} ${command}`
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
    [
      commands[leash],
      ...(model === undefined ? [] : [`--model ${quote(model)}`]),
      ...(resume === undefined ? [] : [`--session ${quote(resume)}`]),
    ].join(' '),
  leashes: {
    read: 'reads and searches in the project and on the web; no shell, no edits, no subagents, no MCP tools',
    ask: 'what needs a yes is refused and reported: in a pipe nobody can be asked',
    edit: 'edits files in the project; the shell and other folders are refused and reported',
    all: 'runs everything that its own settings do not deny',
  },
  speaks: (command) => hasFlag(command, ['--format'], 'json'),
  dialect: () => opencodeDialect(signs, failure),
  acp: {
    // It takes no model on the command line: its own settings choose one.
    command: ({ leash }) =>
      leash === 'read' ? ruled('deny', 'deny', 'opencode acp') : ruled('ask', 'ask', 'opencode acp'),
    leashes: asking,
    failure: (message, now) => readMessage(signs, message, now),
  },
  resumes: true,
  // It retries limits and server errors for ever and says nothing, and no setting changes that: silenceSeconds ends it.
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
  projectFiles: ['opencode.json', 'opencode.jsonc', '.opencode'],
  unsafe: /\s--auto\b/,
}
