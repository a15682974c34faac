import type { Ended, Profile } from '../core/screen/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './signs.ts'
import { opencodeDialect } from './opencode-dialect.ts'
import { behind, providerSigns } from './providers.ts'
import { quote } from './quote.ts'
import { readSigns } from './signs.ts'
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

const signs: readonly Sign[] = [...own, ...providerSigns]
const shown: readonly Sign[] = [...own, ...behind(/^(?:Error|ERROR): /)]

/** Errors of its text form stand on stderr alone, behind `Error: `. */
function failure(ended: Ended) {
  return ended.code === 0 ? undefined : readSigns(shown, { ...ended, out: '' })
}

/** A rejected question would end the run without an answer; so it goes on and says what it could not do. */
const config = (permission: Record<string, string>) =>
  `OPENCODE_CONFIG_CONTENT=${quote(JSON.stringify({ permission, experimental: { continue_loop_on_deny: true } }))}`

const commands: Record<Leash, string> = {
  read: `${config({ edit: 'deny', bash: 'deny', task: 'deny', external_directory: 'deny' })} opencode run --format json`,
  ask: `${config({ edit: 'ask', bash: 'ask', external_directory: 'ask' })} opencode run --format json`,
  edit: `${config({ edit: 'allow', bash: 'ask', external_directory: 'ask' })} opencode run --format json`,
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
    read: 'reads and searches in the project; no shell, no edits, no subagents',
    ask: 'what needs a yes is refused and reported: in a pipe nobody can be asked',
    edit: 'edits files in the project; the shell and other folders are refused and reported',
    all: 'runs everything that its own settings do not deny',
  },
  speaks: (command) => hasFlag(command, ['--format'], 'json'),
  dialect: () => opencodeDialect(signs, failure),
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
  reader: {
    busy: /\besc interrupt\b/,
    asking: /Permission required|Allow once/,
    idle: /Ask anything\.\.\.|ctrl\+p commands/,
  },
}
