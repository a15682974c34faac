import type { CliPlace, Profile, Dialect, Step } from '../core/profile/profile.ts'
import type { Leash } from '../core/work/agent.ts'
import type { Sign } from './shared/failure-signs.ts'
import type { Loose } from './shared/jsonl.ts'
import { join } from 'node:path'
import { piPast } from './pi-past.ts'
import { failureBySigns, providerSignsAfter, readMessage } from './shared/failure-signs.ts'
import { commandLine, hasFlag, option } from './shared/command-words.ts'
import { TurnAccount } from './shared/turn-account.ts'
import { contentText, idOf, innerMessage, listOf, loose, numberOf, parseLine, textOf } from './shared/jsonl.ts'
import { providerKeys } from '../core/profile/key-variables.ts'

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

/** pi has no permissions: a leash takes away the tools that it may not use. */
const looking = ['--tools read,grep,find,ls']
const tools: Record<Leash, readonly string[]> = { read: looking, ask: looking, edit: looking, all: [] }

export const pi: Profile = {
  name: 'pi',
  title: 'pi',
  vendor: 'Earendil Works',
  words: ['pi'],
  window: 200_000,
  command: ({ leash, resume, model }) =>
    commandLine('pi -p --mode json', ...tools[leash], option('--model', model), option('--session', resume)),
  leashes: {
    read: 'reads and searches; no shell, no edits',
    ask: 'the same as read: pi never asks, so it gets no tool that would need a yes',
    edit: 'the same as read: its edit tools reach every folder, so it does not get them',
    all: 'runs everything; it has no permissions of its own',
  },
  speaks: (command) => hasFlag(command, ['--mode'], 'json'),
  dialect: () => piDialect(),
  models: { names: [], list: 'pi --list-models' },
  effort: {
    levels: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    words: (level) => `--thinking ${level === 'none' ? 'off' : level}`,
  },
  reportsCost: true,
  resumes: true,
  // pi retries three times within 15 s and shows it; only its settings file changes that.
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
  // pi looks into the project's settings for the folder of its sessions before it asks whether they count.
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

/** `pi -p --mode json`. pi exits with 0 whatever happened, so its messages decide. */
function piDialect(): Dialect {
  const account = new TurnAccount()
  const calls = new Map<string, unknown>()
  let error: string | undefined

  function spoke(message: Loose): void {
    if (message.role !== 'assistant') return
    const { input, output, cacheRead, cacheWrite, cost } = loose(message.usage)
    account.spend({
      input: numberOf(input) + numberOf(cacheRead) + numberOf(cacheWrite),
      output: numberOf(output),
      cached: numberOf(cacheRead),
      cost: numberOf(loose(cost).total),
    })
    error = message.stopReason === 'error' ? (textOf(message.errorMessage) ?? 'it ended with an error') : undefined
    if (error !== undefined) return
    account.say(contentText(listOf(message.content).filter(({ type }) => type === 'text')))
    if (message.stopReason === 'toolUse') account.goOn()
    else account.done()
  }

  function done({ toolCallId, toolName, result, isError }: Loose): Step[] {
    const call = idOf(toolCallId)
    const text = contentText(loose(result).content)
    // A model that calls a tool which the leash took away gets the error that the tool was not found.
    if (/^Tool (?:bash|edit|write) not found$/.test(text)) account.deny(textOf(toolName) ?? 'tool', calls.get(call))
    return [{ type: 'result', call, ok: isError !== true, text }]
  }

  function live({ type, delta }: Loose): Step[] {
    if (type === 'text_delta') return [{ type: 'text', delta: textOf(delta) ?? '' }]
    if (type === 'text_end') return [{ type: 'text', delta: '\n' }]
    return type === 'thinking_delta' ? [{ type: 'thought', delta: textOf(delta) ?? '' }] : []
  }

  return {
    open: (prompt) => prompt,
    line(line) {
      const event = parseLine(line)
      switch (event.type) {
        case 'session':
          return typeof event.id === 'string' ? [{ type: 'thread', key: event.id }] : []
        case 'message_update':
          return live(loose(event.assistantMessageEvent))
        case 'message_end':
          spoke(loose(event.message))
          return []
        case 'tool_execution_start': {
          const call = idOf(event.toolCallId)
          calls.set(call, event.args)
          return [{ type: 'call', call, tool: textOf(event.toolName) ?? 'tool', input: event.args }]
        }
        case 'tool_execution_end':
          return done(event)
        default:
          return []
      }
    },
    end(ended) {
      if (error !== undefined) {
        const found = readMessage(signs, error, ended.now) ?? { kind: 'crash' as const }
        account.fail({ ...found, message: innerMessage(error) })
      }
      return account.end('pi', ended, failure)
    },
  }
}
