import type { Ended, Profile } from '../core/work/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './signs.ts'
import { piDialect } from './pi-dialect.ts'
import { behind } from './providers.ts'
import { quote } from './quote.ts'
import { readSigns } from './signs.ts'
import { hasFlag } from './words.ts'

export const signs: readonly Sign[] = [
  {
    kind: 'auth',
    says: /^No API key found for /,
    said: 'No API key found for the selected model.',
  },
  {
    kind: 'auth',
    says: /^No models available\.|^Warning: No models available/,
    said: 'No models available. Use /login or set an API key environment variable.',
  },
  ...behind(/^(?:Error: )?\d{3}:? /),
  ...behind(/^(?:Error: )?(?:\w+ )?(?:API )?[Ee]rror:? /),
]

/** Its text form prints the provider's answer on stderr, behind the status. */
function failure(ended: Ended) {
  return ended.code === 0 ? undefined : readSigns(signs, { ...ended, out: '' })
}

/** It has no permissions: what it may not do is a tool it does not get. */
const looking = ['--tools read,grep,find,ls']
const tools: Record<Leash, readonly string[]> = { read: looking, ask: looking, edit: looking, all: [] }

export const pi: Profile = {
  name: 'pi',
  title: 'pi',
  vendor: 'Earendil Works',
  words: ['pi'],
  window: 200_000,
  command: ({ leash, resume, model }) =>
    [
      'pi -p --mode json',
      ...tools[leash],
      ...(model === undefined ? [] : [`--model ${quote(model)}`]),
      ...(resume === undefined ? [] : [`--session ${quote(resume)}`]),
    ].join(' '),
  leashes: {
    read: 'reads and searches; no shell, no edits',
    ask: 'as read: it never asks, so it gets no tool that would need a yes',
    edit: 'as read: its edit tools reach every folder, so it does not get them',
    all: 'runs everything; it has no permissions of its own',
  },
  speaks: (command) => hasFlag(command, ['--mode'], 'json'),
  dialect: () => piDialect(signs, failure),
  resumes: true,
  // Three retries within 15 s are its own, shown as they happen; only its settings file changes that.
  failure,
  lostThread: ({ err }) => /^No session found matching /m.test(err),
  install: 'npm install -g @earendil-works/pi-coding-agent',
  login: 'pi   # then /login',
  version: 'pi --version',
  traces: {
    files: ['.pi/agent/auth.json', '.pi/agent/models.json'],
    env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_OAUTH_TOKEN', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
  },
  projectFiles: ['.pi'],
}
