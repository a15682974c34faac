import type { CliFiles, CliPlace, Profile } from '../../core/profile/profile.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { promises } from 'node:fs'
import { join } from 'node:path'
import { realOrSame } from '../../base/files/real-path.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { codexPast } from './codex-past.ts'
import { codexDialect } from './codex-dialect.ts'
import { codexExecDialect } from './codex-exec-dialect.ts'
import { flags, leashes, codexScreen } from './codex-screen.ts'
import { modes } from './codex-terms.ts'
import { threadOf } from '../shared/counted-thread.ts'
import { failureBySigns } from '../shared/failure-signs.ts'
import { commandLine, hasFlag, option } from '../shared/command-words.ts'
import { textOf } from '../shared/jsonl.ts'
import { contentWord, instructionText } from '../shared/project-instructions.ts'

export const signs: readonly Sign[] = [
  {
    kind: 'quota',
    says: /^(?:ERROR: )?You['’]ve hit your usage limit/,
    said: 'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 3:00 PM.',
    local: true,
  },
  {
    kind: 'quota',
    says: /^(?:ERROR: )?Quota exceeded\./,
    said: 'Quota exceeded. Check your plan and billing details.',
  },
  {
    kind: 'busy',
    says: /^(?:ERROR: )?exceeded retry limit, last status: (?:429|5\d\d)/,
    said: 'exceeded retry limit, last status: 429 Too Many Requests',
  },
  {
    kind: 'busy',
    says: /^(?:ERROR: )?We['’]re currently experiencing high demand/,
    said: 'We’re currently experiencing high demand, which may cause temporary errors.',
  },
  {
    kind: 'busy',
    says: /^(?:ERROR: )?unexpected status (?:429|5\d\d)\b/,
    said: 'unexpected status 503 Service Unavailable: That model is currently overloaded with other requests.',
  },
  {
    kind: 'busy',
    says: /^(?:ERROR: )?stream disconnected before completion/,
    said: 'stream disconnected before completion: Transport error: network error: error decoding response body',
  },
  {
    kind: 'auth',
    says: /^(?:ERROR: )?unexpected status 40[13]\b/,
    said: 'unexpected status 401 Unauthorized: Incorrect API key provided: made-up.',
  },
  {
    kind: 'auth',
    says: /^(?:ERROR: )?Missing environment variable: /,
    said: 'Missing environment variable: `MOCK_API_KEY`.',
  },
  { kind: 'auth', says: /^Not logged in$/, said: 'Not logged in' },
  {
    kind: 'overflow',
    says: /"context_length_exceeded"|maximum context length|ran out of room in the model['’]s context window/,
    said: '{"error":{"message":"This model\'s maximum context length is 128000 tokens.","code":"context_length_exceeded"}}',
  },
]

const failure = failureBySigns(signs)

/**
 * Codex finds a thread by its file among the sessions; its databases only make that faster. `config.toml` contains settings and the trust
 * in folders.
 */
function codexFiles({ home, env }: CliPlace): CliFiles {
  const own = env.CODEX_HOME || join(home, '.codex')
  return {
    folders: [own],
    sessions: [join(own, 'sessions')],
    fresh: ['thread-writer-locks', '.tmp', 'tmp', 'log', 'shell_snapshots'].map((name) => join(own, name)),
    returned: [{ path: join(own, 'auth.json'), keys: ['tokens', 'last_refresh'] }],
  }
}

const isExec = (command: string) => hasFlag(command, ['exec', 'e']) && hasFlag(command, ['--json'])
const isServer = (command: string) => hasFlag(command, ['app-server'])

/** The instructions in the person's own Codex settings, which a command-line option would replace. */
async function ownInstructions({ home, env }: CliPlace): Promise<string | undefined> {
  const path = join(env.CODEX_HOME || join(home, '.codex'), 'config.toml')
  const [{ parseToml }, text] = await Promise.all([
    import('../../base/text/toml-parser.ts'),
    promises.readFile(path, 'utf8').catch(() => ''),
  ])
  try {
    return textOf(parseToml(text).developer_instructions)
  } catch {
    // Codex itself reports an error in these settings.
    return undefined
  }
}

/** A text in TOML syntax, which equals JSON except for one character. */
const tomlText = (text: string) => JSON.stringify(text).replaceAll('\u007F', '\\u007F')

export const codex: Profile = {
  name: 'codex',
  title: 'Codex',
  vendor: 'OpenAI',
  words: ['codex'],
  window: 272_000,
  command: ({ leash, model, plans }) =>
    commandLine(`codex app-server ${flags(modes[plans ? 'read' : leash])}`, option('-c', model && `model=${model}`)),
  leashes,
  speaks: (command) => isExec(command) || isServer(command),
  dialect({ leash, resume, model, effort, command, plans } = {}) {
    const thread = resume === undefined ? undefined : threadOf(resume)
    if (command !== undefined && !isServer(command)) return codexExecDialect(signs, failure, thread)
    // A resumed thread would restore the sandbox, the model and the effort of its last turn, so each turn sets its own.
    const mode = leash === undefined ? {} : modes[plans ? 'read' : leash]
    return codexDialect(signs, failure, { ...mode, model }, { thread, effort, plans })
  },
  // The dialect asks for the plan mode, and adds our words for planning if the installed version has none.
  planMode: {},
  models: { names: ['gpt-6-astra', 'gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-6-luna'], list: 'codex debug models' },
  effort: {
    levels: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'],
    words: (level) => `-c model_reasoning_effort=${level}`,
  },
  lends: codexScreen.lends,
  // Codex can read every folder; this option lets its sandbox write in these as well.
  reaches: (folders) => `-c ${shellWord(`sandbox_workspace_write.writable_roots=${JSON.stringify(folders)}`)}`,
  resumes: true,
  failure,
  lostThread: ({ out }) => /^\{"(?:error|id)":.*no rollout found for thread id/m.test(out),
  install: 'npm install -g @openai/codex',
  login: 'codex login',
  version: 'codex --version',
  loggedIn: 'codex login status',
  traces: { files: ['.codex/auth.json'], env: ['CODEX_API_KEY', 'OPENAI_API_KEY'] },
  keys: ['CODEX_API_KEY', 'CODEX_ACCESS_TOKEN', 'OPENAI_API_KEY', 'AZURE_OPENAI_API_KEY'],
  projectFiles: ['.codex'],
  // In a folder that is not trusted Codex reads no files of the project, not even AGENTS.md, so we pass that text to it.
  guard: async (place) => {
    if (place.trusted) return {}
    const { root, cwd, file } = place
    const folders = [...new Set([root, cwd, realOrSame(root), realOrSame(cwd)])]
    const untrusted = folders.map((folder) => `${JSON.stringify(folder)}={trust_level="untrusted"}`)
    const words = `-c ${shellWord(`projects={${untrusted.join(',')}}`)}`
    const text = instructionText(place, ['AGENTS.override.md', 'AGENTS.md'])
    if (text === undefined) return { words }
    const all = [await ownInstructions(place), text].filter((one) => one !== undefined).join('\n\n')
    return {
      words,
      instructions: `-c ${contentWord(file('instructions.toml', `developer_instructions=${tomlText(all)}`))}`,
    }
  },
  files: codexFiles,
  unsafe: /--dangerously-bypass-|\s--yolo\b|\bdanger-full-access\b/,
  mcp: {
    file: ({ home, env }) => join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    format: 'toml',
    path: ['mcp_servers'],
    // Without this setting Codex cancels a call after one minute, whatever progress the server reports; a wait may take longer.
    entry: ({ command, args }) => ({ command, args, tool_timeout_sec: 3600 }),
  },
  screen: codexScreen,
  past: codexPast,
  belongings: async () => (await import('./codex-belongings.ts')).codexBelongings,
}
