import type { Profile, Dialect, Guard, GuardedPlace, Step } from '../../core/profile/profile.ts'
import type { Sign } from '../shared/failure-signs.ts'
import type { Loose } from '../shared/jsonl.ts'
import { promises } from 'node:fs'
import { join } from 'node:path'
import { qwenPast } from './qwen-past.ts'
import { acpLeashes } from '../shared/acp-leashes.ts'
import { providerSignsAfter, providerSigns, readMessage, failureBySigns } from '../shared/failure-signs.ts'
import { acting, modes, unasked, qwenScreen } from './qwen-screen.ts'
import { commandLine, hasFlag, option, options } from '../shared/command-words.ts'
import { claudeDialect } from '../claude/claude-dialect.ts'
import { contentWord, instructionText } from '../shared/project-instructions.ts'
import { brokenOff, listOf, loose, numberOf, parseLine } from '../shared/jsonl.ts'

export const signs: readonly Sign[] = [
  {
    kind: 'auth',
    says: /^No auth type is selected\./,
    said: 'No auth type is selected. Please configure an auth type (e.g. via settings or `--auth-type`) before running in non-interactive mode.',
  },
  {
    kind: 'quota',
    says: /^(?:\[API Error: )?Qwen OAuth (?:free )?quota exceeded/i,
    said: 'Qwen OAuth quota exceeded: Your free daily quota has been reached.',
  },
  {
    kind: 'auth',
    says: /^(?:\[API Error: )?(?:Qwen OAuth authentication|Device authorization|Failed to refresh)/i,
    said: 'Qwen OAuth authentication failed. Please run /auth to sign in again.',
  },
  ...providerSignsAfter(/^\[API Error: /),
]

/** Over ACP the provider's message arrives without Qwen's own prefix. */
const shown: readonly Sign[] = [...signs, ...providerSigns]

/** In text mode Qwen prints errors to stderr. */
const failure = failureBySigns(signs)

/**
 * Variables that decide to which servers Qwen sends its requests and keys, and how it verifies them; the first two exist only in Qwen.
 */
const foreignVariables: readonly string[] = [
  ...['DEBUG', 'DEBUG_MODE'],
  ...['OPENAI', 'ANTHROPIC', 'GEMINI', 'GOOGLE', 'QWEN', 'DASHSCOPE', 'AZURE_OPENAI'].flatMap((vendor) =>
    ['BASE_URL', 'API_KEY', 'MODEL', 'API_BASE', 'ENDPOINT', 'PROXY_BASE_URL', 'AUTH_TOKEN', 'CUSTOM_HEADERS'].map(
      (what) => `${vendor}_${what}`,
    ),
  ),
  ...['BAILIAN_CODING_PLAN_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL', 'WEB_SEARCH_BASE_URL'],
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION', 'GOOGLE_GENAI_USE_VERTEXAI'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  ...['NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'QWEN_TLS_INSECURE'],
  ...['QWEN_UPDATE_BASE_URL', 'QWEN_DEFAULT_AUTH_TYPE', 'QWEN_OAUTH', 'QWEN_SANDBOX', 'QWEN_CODE_SHELL', 'SHELL'],
  ...['', '_TRACES', '_METRICS', '_LOGS'].flatMap((what) => [
    `OTEL_EXPORTER_OTLP${what}_ENDPOINT`,
    `OTEL_EXPORTER_OTLP${what}_HEADERS`,
    `QWEN_TELEMETRY_OTLP${what}_ENDPOINT`,
  ]),
]

/** Writes a file that joins the machine's own settings for Qwen with ours, which override the person's; returns its path. */
async function systemSettings(
  env: GuardedPlace['env'],
  file: GuardedPlace['file'],
  ours: Readonly<Record<string, object>>,
): Promise<string> {
  const { parse } = await import('jsonc-parser')
  const path = env.QWEN_CODE_SYSTEM_SETTINGS_PATH || '/etc/qwen-code/settings.json'
  const text = await promises.readFile(path, 'utf8').catch(() => '{}')
  const all: Record<string, unknown> = { ...loose(parse(text, [], { allowTrailingComma: true })) }
  for (const [key, value] of Object.entries(ours)) all[key] = { ...loose(all[key]), ...value }
  return file('system-settings.json', JSON.stringify(all))
}

export const qwen: Profile = {
  name: 'qwen',
  title: 'Qwen Code',
  vendor: 'Alibaba',
  words: ['qwen'],
  window: 256_000,
  command: ({ leash, resume, model }) =>
    commandLine(
      `qwen --output-format stream-json --include-partial-messages ${modes[leash]}`,
      option('--model', model),
      option('--resume', resume),
    ),
  leashes: {
    read: 'reads and searches; no shell, no edits, no subagents',
    ask: 'refuses and reports what needs a yes, because a pipe cannot ask',
    edit: 'edits files in the project; the shell is refused and reported',
    all: 'runs everything without asking',
  },
  speaks: (command) =>
    hasFlag(command, ['-o', '--output-format'], 'stream-json') && !hasFlag(command, ['--input-format'], 'stream-json'),
  dialect: () => qwenDialect(),
  lends: qwenScreen.lends,
  acp: {
    command: ({ leash, model }) =>
      commandLine(
        `qwen --acp --approval-mode ${leash === 'read' ? 'plan' : 'default'} --exclude-tools ${leash === 'read' ? acting : unasked}`,
        option('--model', model),
      ),
    leashes: acpLeashes,
    // By default a model of Qwen's own answers its permission requests.
    modes: { read: 'plan', ask: 'default', edit: 'default', all: 'default' },
    // Qwen asks for these after each round of tools; text that it does not ask for waits for the next turn.
    steering: {
      method: 'craft/drainMidTurnQueue',
      answer: (messages) => ({ messages, hasQueuedPrompt: false }),
    },
    failure: (message, now) => readMessage(shown, message, now),
  },
  models: { names: ['coder-model', 'qwen3.8-max', 'qwen3.7-plus', 'qwen3.8-flash'] },
  // The CLI splits its list at commas, so a folder with a comma in its name cannot be passed.
  reaches: (folders) => options('--include-directories=')(folders.filter((folder) => !folder.includes(','))),
  resumes: true,
  // Qwen retries limits and server errors for many minutes without any message, and no flag or variable changes that: silenceSeconds ends
  // the turn.
  env: { QWEN_CODE_UNATTENDED_RETRY: '0', QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  failure,
  lostThread: ({ err }) => /^No saved session found/m.test(err),
  install: 'npm install -g @qwen-code/qwen-code',
  login: 'qwen   # then /auth',
  version: 'qwen --version',
  traces: {
    files: ['.qwen/oauth_creds.json'],
    env: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY', 'BAILIAN_CODING_PLAN_API_KEY'],
  },
  keys: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY', 'BAILIAN_CODING_PLAN_API_KEY', 'QWEN_API_KEY'],
  projectFiles: ['.qwen'],
  // Settings of the system come before all others. An empty variable counts as unset, so a setting lists the variables that Qwen may not
  // take from a project. In a folder that is not trusted it reads neither settings nor instructions, so we hand the instructions over.
  guard: async (place): Promise<Guard> => {
    const { env, trusted, file } = place
    const advanced = { excludedEnvVars: foreignVariables }
    if (trusted) return { env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: await systemSettings(env, file, { advanced }) } }
    const security = { folderTrust: { enabled: true } }
    const text = instructionText(place, ['QWEN.md', 'AGENTS.md'])
    return {
      ...(text !== undefined && {
        instructions: `--append-system-prompt ${contentWord(file('instructions.md', text))}`,
      }),
      env: {
        QWEN_CODE_SYSTEM_SETTINGS_PATH: await systemSettings(env, file, { advanced, security }),
        QWEN_CODE_TRUSTED_FOLDERS_PATH: file('folders.json', '{}'),
      },
    }
  },
  // Beside the chats of a project there is a memory, which influences later runs.
  files: ({ home, cwd, env }) => {
    const own = env.QWEN_HOME || join(home, '.qwen')
    const name = cwd.replaceAll(/[^a-zA-Z0-9]/g, '-')
    return {
      folders: [own],
      fresh: ['todos', 'tmp', 'debug', 'usage'].map((folder) => join(own, folder)),
      sessions: [join(own, 'projects', name, 'chats')],
      returned: [{ path: join(own, 'oauth_creds.json') }],
    }
  },
  unsafe: /\s(?:-y|--yolo)\b|--approval-mode[ =]yolo\b/,
  mcp: {
    file: ({ home }) => join(home, '.qwen', 'settings.json'),
    format: 'json',
    path: ['mcpServers'],
    entry: ({ command, args }) => ({ command, args }),
    trusted: { trust: true },
  },
  screen: qwenScreen,
  past: qwenPast,
  belongings: async () => (await import('./qwen-belongings.ts')).qwenBelongings,
}

/**
 * Qwen prints Claude's stream with two differences. An error is in a field of its own in the result, and the tokens are counted for the
 * whole session, including cached ones, so we add up the tokens of this turn's messages.
 */
function qwenDialect(): Dialect {
  const claude = claudeDialect(signs, failure)
  const spent = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0 }
  let streams = false
  let ended = false

  function said(event: Loose): Step[] {
    const message = loose(event.message)
    const usage = loose(message.usage)
    const cached = numberOf(usage.cache_read_input_tokens)
    spent.input_tokens += Math.max(0, numberOf(usage.input_tokens) - cached)
    spent.output_tokens += numberOf(usage.output_tokens)
    spent.cache_read_input_tokens += cached
    // Thoughts and text of one answer are repeated as whole messages after they were streamed.
    const content = listOf(message.content).filter(({ type }) => !streams || type === 'tool_use')
    return claude.line(JSON.stringify({ ...event, message: { ...message, content } }))
  }

  return {
    ...claude,
    line(line) {
      const event = parseLine(line)
      if (event.type === 'stream_event') streams = true
      if (event.type === 'assistant') return said(event)
      if (event.type !== 'result') return claude.line(line)
      ended = true
      const result = event.result ?? loose(event.error).message
      return claude.line(JSON.stringify({ ...event, result, usage: spent }))
    },
    end(exit) {
      if (ended) return claude.end(exit)
      const known = failure(exit)
      return [{ type: 'end', outcome: known ? { ok: false, failure: known } : brokenOff('qwen', exit) }]
    },
  }
}
