import type { CliFiles, CliPlace, Ended, GuardedPlace, Profile } from '../../core/profile/profile.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { foldersDown } from '../../base/files/real-path.ts'
import { geminiPast } from './gemini-past.ts'
import { geminiDialect, sentence } from './gemini-dialect.ts'
import { acpLeashes } from '../shared/acp-leashes.ts'
import { geminiScreen, modes } from './gemini-screen.ts'
import { commandLine, hasFlag, option, options } from '../shared/command-words.ts'
import { readMessage, readSigns } from '../shared/failure-signs.ts'

export const signs: readonly Sign[] = [
  {
    kind: 'busy',
    says: /Please retry in \d+(?:\.\d+)?s|Suggested retry after \d+s/,
    said: 'You exceeded your current quota, please check your plan and billing details. Please retry in 41.930157551s.',
  },
  {
    kind: 'quota',
    says: /exhausted your daily quota/,
    said: 'TerminalQuotaError: You have exhausted your daily quota on this model.',
  },
  {
    kind: 'quota',
    says: /exhausted your capacity on this model/,
    said: 'You have exhausted your capacity on this model. Your quota will reset after 15h14m39s.',
  },
  {
    kind: 'quota',
    says: /exceeded your current quota/,
    said: 'You exceeded your current quota, please check your plan and billing details.',
  },
  { kind: 'busy', says: /Resource has been exhausted/, said: 'Resource has been exhausted (e.g. check quota).' },
  { kind: 'busy', says: /model is overloaded/, said: 'The model is overloaded. Please try again later.' },
  {
    kind: 'busy',
    says: /"code":5\d\d\b/,
    said: '{"error":{"code":500,"message":"An internal error has occurred. Please retry or report.","status":"INTERNAL"}}',
  },
  { kind: 'busy', says: /^\[API Error: (?:terminated|fetch failed)/, said: '[API Error: terminated]' },
  { kind: 'auth', says: /API key not valid/, said: 'API key not valid. Please pass a valid API key.' },
  {
    kind: 'auth',
    says: /must specify the GEMINI_API_KEY/,
    said: 'When using Gemini API, you must specify the GEMINI_API_KEY environment variable.',
  },
  {
    kind: 'auth',
    says: /Please set an Auth method/,
    said: 'Please set an Auth method in your ~/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA',
  },
  { kind: 'auth', says: /Invalid auth method selected/, said: 'Invalid auth method selected.' },
  {
    kind: 'auth',
    says: /not running in a trusted directory/,
    said: 'Gemini CLI is not running in a trusted directory. To proceed, either use `--skip-trust`, set the `GEMINI_CLI_TRUST_WORKSPACE=true` environment variable, or trust this directory in interactive mode.',
  },
  {
    kind: 'overflow',
    says: /input token count .{0,40}exceeds the maximum/,
    said: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  },
]

/** The beginnings of Gemini's own errors; other output of tools and answers is ignored. */
const own =
  /^(?:Error when talking to Gemini API|TerminalQuotaError: |Attempt \d+ failed: |\[API Error: |Suggested retry after|When using Gemini API|Please set an Auth method|Invalid auth method|Gemini CLI is not running|\{?\s*"?message"?: )/

function failure(ended: Ended) {
  if (ended.code === 0) return undefined
  const err = ended.err
    .split('\n')
    .filter((line) => own.test(line.trim()))
    .join('\n')
  const found = readSigns(signs, { ...ended, err, out: '' })
  return found && { ...found, message: sentence(found.message) }
}

/** How long Gemini may wait before it retries by itself. */
const patienceMs = 10_000

// "Attempt 2 failed with status 429. Retrying with backoff... _ApiError: {"error":{"code":429,…": ten attempts take minutes
const backoff = /^Attempt (\d+) failed with status (?:429|5\d\d)\. Retrying with backoff/
// "Suggested retry after 41s.. Retrying after 48911ms..."
const waiting = /\. Retrying after (\d+)ms\.\.\.$/

function retrying(line: string, now: number) {
  const again = Number(backoff.exec(line)?.[1] ?? 0) > 1
  const wait = Number(waiting.exec(line)?.[1] ?? 0)
  if (!again && wait <= patienceMs) return undefined
  const failure = readMessage(signs, line, now) ?? { kind: 'busy' as const, message: line }
  const said = failure.message.replace(waiting, '').replace(/^Attempt \d+ failed(?: with status|:) /, '')
  return defined({ ...failure, message: sentence(said), retryAt: wait > patienceMs ? now + wait : failure.retryAt })
}

/** Gemini stores its sessions under a name for each project, listed in `projects.json`; downloaded programs are in `tmp/bin`. */
function geminiFiles({ home, env }: CliPlace): CliFiles {
  const own = join(env.GEMINI_CLI_HOME || home, '.gemini')
  return {
    folders: [own],
    sessions: [join(own, 'tmp')],
    fresh: [join(own, 'history')],
    steering: [join(own, 'tmp', 'bin')],
    returned: ['oauth_creds.json', 'google_accounts.json', 'projects.json'].map((name) => ({ path: join(own, name) })),
  }
}

/**
 * Without a terminal, Gemini refuses a folder that was never trusted. Trust would also enable the project's own settings and `.env`, so
 * the check is skipped only if neither exists, and otherwise left to the person.
 */
const trust = '$([ -e .gemini ] || [ -e .env ] || echo --skip-trust)'

/**
 * Variables that decide to which servers Gemini sends its requests and keys, how it verifies them, and which programs it starts by
 * itself.
 */
const guardedVariables: readonly string[] = [
  ...['GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL', 'GEMINI_CLI_CUSTOM_HEADERS', 'GOOGLE_CLOUD_UNIVERSE_DOMAIN'],
  ...['NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ...['OTEL_EXPORTER_OTLP_HEADERS', 'GEMINI_TELEMETRY_OTLP_ENDPOINT', 'GEMINI_TELEMETRY_ENABLED'],
  ...['GEMINI_CLI_IDE_SERVER_STDIO_COMMAND', 'GEMINI_CLI_IDE_SERVER_STDIO_ARGS', 'GEMINI_CLI_IDE_SERVER_PORT'],
  ...['GEMINI_SANDBOX_PROXY_COMMAND', 'SANDBOX_FLAGS', 'SANDBOX_MOUNTS', 'GEMINI_SYSTEM_MD', 'GEMINI_WRITE_SYSTEM_MD'],
  ...['GEMINI_CLI_HOME', 'GEMINI_CLI_SYSTEM_SETTINGS_PATH', 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH'],
  ...['GEMINI_CLI_TRUSTED_FOLDERS_PATH', 'GEMINI_CLI_EXTENSION_REGISTRY_URI'],
]

/** Variables that name the account that Gemini uses, whose owner can see every request. */
const accountVariables: readonly string[] = [
  ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_ACCESS_TOKEN'],
  ...['GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_PROJECT_ID', 'GOOGLE_CLOUD_LOCATION'],
  ...['GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA', 'GEMINI_DEFAULT_AUTH_TYPE'],
]

/** Whether Gemini would read its variables from a file of the project, and therefore not from a file of the person. */
const bringsVariables = (root: string, cwd: string) =>
  foldersDown(root, cwd).some((folder) => ['.env', '.gemini/.env'].some((name) => existsSync(join(folder, name))))

/** These variables with the person's values, or empty. Gemini's own address for logins has no empty form. */
function ownVariables({ env, root, cwd }: GuardedPlace): Record<string, string> {
  const names = bringsVariables(root, cwd) ? [...guardedVariables, ...accountVariables] : guardedVariables
  const own = Object.fromEntries(names.map((name) => [name, env[name] ?? '']))
  own.CODE_ASSIST_ENDPOINT = env.CODE_ASSIST_ENDPOINT ?? 'https://cloudcode-pa.googleapis.com'
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'])
    for (const form of [name, name.toLowerCase()]) own[form] = env[form] ?? env[name] ?? env[name.toLowerCase()] ?? ''
  return own
}

export const gemini: Profile = {
  name: 'gemini',
  title: 'Gemini CLI',
  vendor: 'Google',
  words: ['gemini'],
  window: 1_000_000,
  command: ({ leash, resume, model }) =>
    commandLine(
      `gemini -o stream-json --approval-mode ${modes[leash]} ${trust}`,
      option('-m', model),
      option('--resume', resume),
    ),
  leashes: {
    read: 'plan mode: reads and searches; writes nothing but its own plans',
    ask: 'reads and searches; tools that need a yes are not offered, because a pipe cannot ask',
    edit: 'edits files without asking; no shell',
    all: 'runs everything without asking',
  },
  speaks: (command) => hasFlag(command, ['-o', '--output-format'], 'stream-json'),
  dialect: () => geminiDialect(signs, failure),
  acp: {
    // In an untrusted folder Gemini works, but starts no MCP server, not even one that it receives over ACP.
    command: ({ model }) => commandLine(`gemini --acp ${trust}`, option('-m', model)),
    leashes: acpLeashes,
    // The looser modes need a trusted folder; in this mode Gemini asks before every action, and the leash answers.
    modes: { read: 'plan', ask: 'default', edit: 'default', all: 'default' },
    // Gemini mistakes our "not found" for a failure of its own, and then cannot create files.
    readsItself: true,
    // "Cannot enable privileged approval modes in an untrusted folder.": always allowing an edit fails there.
    forgets: true,
    // "spawn_workers_batch (termaite_turn MCP Server)"
    serverTool: /^[\w-]+ \((\S+) MCP Server\)$/,
    // "[MODE_UPDATE] plan"
    aside: /^\[MODE_UPDATE\] /,
    failure(message, now) {
      const found = readMessage(signs, message, now)
      return found && { ...found, message: sentence(found.message) }
    },
  },
  models: {
    names: ['auto', 'gemini-3.1-pro-preview', 'gemini-3.8-flash', 'gemini-3.5-flash-lite', 'gemini-2.5-pro'],
  },
  // The CLI splits its list at commas, so a folder with a comma in its name cannot be passed.
  reaches: (folders) => options('--include-directories=')(folders.filter((folder) => !folder.includes(','))),
  resumes: true,
  // Without this variable Gemini starts itself a second time for a larger heap, which takes a second.
  env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
  failure,
  retrying,
  lostThread: ({ err }) => /^Error resuming session:/m.test(err),
  install: 'npm install -g @google/gemini-cli',
  login: 'gemini',
  version: 'gemini --version',
  traces: {
    files: ['.gemini/oauth_creds.json'],
    env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA'],
  },
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  instructionFiles: ['GEMINI.md'],
  projectFiles: ['.gemini'],
  // Without a terminal, Gemini does not start in a folder that is not trusted. A variable that is set, even to an empty value, is not
  // read from `.env`.
  guard: (place) => ({ env: ownVariables(place), ...(place.trusted ? {} : { refuses: true as const }) }),
  files: geminiFiles,
  unsafe: /\s(?:-y|--yolo)\b|--approval-mode[ =]yolo\b/,
  mcp: {
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    format: 'json',
    path: ['mcpServers'],
    entry: ({ command, args }) => ({ command, args }),
    trusted: { trust: true },
  },
  screen: geminiScreen,
  past: geminiPast,
  belongings: async () => (await import('./gemini-belongings.ts')).geminiBelongings,
}
