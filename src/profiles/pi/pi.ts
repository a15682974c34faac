import type { CliPlace, Profile } from '../../core/profile/profile.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { join } from 'node:path'
import { piDialect, piOneWayDialect } from './pi-dialect.ts'
import { piPast } from './pi-past.ts'
import { thinkingLevel } from './pi-terms.ts'
import { failureBySigns, providerSignsAfter } from '../shared/failure-signs.ts'
import { commandLine, hasFlag, option } from '../shared/command-words.ts'
import { providerKeys } from '../../core/profile/key-variables.ts'

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
  ...providerSignsAfter(/^(?:Error: )?\d{3}:? /),
  ...providerSignsAfter(/^(?:Error: )?(?:\w+ )?(?:API )?[Ee]rror:? /),
]

/** In text mode pi prints the provider's answer on stderr, after the status. */
const failure = failureBySigns(signs)

/** pi has no permissions: a leash removes the tools that pi may not use. */
const looking = ['--tools read,grep,find,ls']
const tools: Record<Leash, readonly string[]> = { read: looking, ask: looking, edit: looking, all: [] }

const twoWay = (command: string) => hasFlag(command, ['--mode'], 'rpc')

export const pi: Profile = {
  name: 'pi',
  title: 'pi',
  vendor: 'Earendil Works',
  words: ['pi'],
  window: 200_000,
  command: ({ leash, resume, model }) =>
    commandLine('pi --mode rpc', ...tools[leash], option('--model', model), option('--session', resume)),
  leashes: {
    read: 'reads and searches; no shell, no edits',
    ask: 'the same as read: pi never asks, so it gets no tool that would need a yes',
    edit: 'the same as read: its edit tools reach every folder, so it does not get them',
    all: 'runs everything; it has no permissions of its own',
  },
  speaks: (command) => twoWay(command) || hasFlag(command, ['--mode'], 'json'),
  dialect: ({ command } = {}) =>
    command === undefined || twoWay(command) ? piDialect(signs, failure) : piOneWayDialect(signs, failure),
  models: { names: [], list: 'pi --list-models' },
  effort: {
    levels: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    words: (level) => `--thinking ${thinkingLevel(level)}`,
  },
  reportsCost: true,
  resumes: true,
  // pi retries three times within 15 s and reports it; only its settings file changes that.
  failure,
  lostThread: ({ err }) => /^No session found matching /m.test(err),
  install: 'npm install -g @earendil-works/pi-coding-agent',
  login: 'pi   # then /login',
  version: 'pi --version',
  traces: {
    files: ['.pi/agent/auth.json', '.pi/agent/models.json'],
    env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_OAUTH_TOKEN', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY'],
  },
  keys: [...providerKeys, 'ANTHROPIC_OAUTH_TOKEN'],
  projectFiles: ['.pi'],
  // pi looks up the folder of its sessions in the project's settings before it asks whether those settings are trusted.
  guard: (place) =>
    place.trusted ? {} : { words: '--no-approve', env: { PI_CODING_AGENT_SESSION_DIR: sessionFolder(place) } },
  files: (place) => {
    const own = ownFolder(place)
    return { folders: [own], sessions: [join(own, 'sessions')], returned: [{ path: join(own, 'auth.json') }] }
  },
  past: piPast,
  belongings: async () => (await import('./pi-belongings.ts')).piBelongings,
}

const ownFolder = ({ home, env }: CliPlace) => env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent')

/** The folder of the sessions of a project, as pi itself names it. */
function sessionFolder({ cwd, ...place }: CliPlace): string {
  const name = cwd.replace(/^\//, '').replaceAll(/[/\\:]/g, '-')
  return place.env.PI_CODING_AGENT_SESSION_DIR || join(ownFolder({ cwd, ...place }), 'sessions', `--${name}--`)
}
