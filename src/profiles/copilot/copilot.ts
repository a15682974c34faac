import type { GuardedPlace, Profile } from '../../core/profile/profile.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../base/files/files.ts'
import { isWithin, realOrSame } from '../../base/files/real-path.ts'
import { loose } from '../shared/jsonl.ts'
import { copilotPast } from './copilot-past.ts'
import { copilotDialect } from './copilot-dialect.ts'
import { threadOf } from '../shared/counted-thread.ts'
import { acpLeashes } from '../shared/acp-leashes.ts'
import { providerSignsAfter, providerSigns, readMessage, failureBySigns } from '../shared/failure-signs.ts'
import { copilotScreen, flags } from './copilot-screen.ts'
import { commandLine, hasFlag, option, options } from '../shared/command-words.ts'
import { cacheFolder } from '../shared/home-folders.ts'

export const signs: readonly Sign[] = [
  {
    kind: 'auth',
    says: /^(?:Error: )?No authentication information found\./,
    said: 'Error: No authentication information found.',
  },
  {
    kind: 'auth',
    says: /^Authentication failed with provider at .*\(HTTP 401\)/,
    said: 'Authentication failed with provider at http://127.0.0.1:4101/v1 (HTTP 401).',
  },
  {
    kind: 'quota',
    says: /you['’]ve hit a rate limit that restricts the number of Copilot model requests/,
    said: "Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period. Please try again in 58 hours.",
  },
  {
    kind: 'quota',
    says: /exceeded your premium request allowance|no remaining premium requests|monthly (?:quota|limit) (?:exceeded|reached)/i,
    said: 'You have exceeded your premium request allowance. We have automatically switched you to GPT-4.1 which is included with your plan.',
  },
  {
    kind: 'quota',
    says: /^(?:✗ |× )?(?:Sorry, )?you['’]ve (?:reached|hit|exceeded) your (?:weekly|monthly|session|global) (?:rate )?limit/i,
    said: "You've reached your weekly rate limit. Please wait for your limit to reset on May 4 at 8:00 PM (UTC).",
  },
  {
    kind: 'auth',
    says: /not authorized to use this Copilot feature|Access denied by policy settings/,
    said: 'Error: Access denied by policy settings',
  },
  ...providerSignsAfter(
    /^(?:Failed to get response from the AI model; .*?Last error: |(?:✗|×) |Model call failed: |Error: |\d{3} )/,
  ),
]

/** Over ACP the provider's message arrives without Copilot's own prefix. */
const shown: readonly Sign[] = [...signs, ...providerSigns]

/** In text mode Copilot prints errors on stderr. */
const failure = failureBySigns(signs)

/**
 * Copilot writes its tokens to a file, which must be a regular file: the file is printed as the last line. Text that is added to the
 * command becomes arguments of Copilot.
 */
function withUsage(command: string): string {
  return `run() { usage=$(mktemp); trap 'rm -f "$usage"' EXIT; ${command} --usage-output-file "$usage" "$@"; code=$?; [ -s "$usage" ] && { tr -d '\\n' <"$usage"; echo; }; exit $code; }; run`
}

/** Whether Copilot's own settings trust a folder or one above it. If the settings cannot be read, we assume that they do. */
async function isTrustedByCopilot({ home, env, root, cwd }: GuardedPlace): Promise<boolean> {
  const { parse } = await import('jsonc-parser')
  const own = env.COPILOT_HOME || join(home, '.copilot')
  const trusted = ['config.json', 'settings.json'].flatMap((name) => {
    try {
      const text = readFileSync(join(own, name), 'utf8')
      const value = loose(parse(text, [], { allowTrailingComma: true }))
      return [value.trustedFolders, value.trusted_folders].flatMap((list) => (Array.isArray(list) ? list : []))
    } catch (error) {
      return isMissing(error) ? [] : ['/']
    }
  })
  const folders = [root, realOrSame(cwd)]
  return trusted.some((one) => typeof one !== 'string' || folders.some((folder) => isWithin(realOrSame(one), folder)))
}

export const copilot: Profile = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  vendor: 'GitHub',
  words: ['copilot'],
  window: 128_000,
  command: ({ leash, resume, model }) =>
    withUsage(
      commandLine(
        'copilot --output-format json --no-color --no-ask-user',
        ...flags[leash],
        option('--model', model),
        option('--resume=', resume && threadOf(resume).id),
      ),
    ),
  leashes: {
    read: 'reads and searches in the project; no shell, no edits',
    ask: 'refuses and reports what needs a yes, because a pipe cannot ask',
    edit: 'edits files in the project; the shell and other folders are refused and reported',
    all: 'runs everything without asking, in every folder and on every address',
  },
  speaks: (command) => hasFlag(command, ['--output-format'], 'json'),
  dialect: ({ resume } = {}) => copilotDialect(signs, failure, resume === undefined ? undefined : threadOf(resume)),
  lends: copilotScreen.lends,
  acp: {
    command: ({ leash, model }) =>
      commandLine('copilot --acp --no-color', ...(leash === 'read' ? flags.read : []), option('--model', model)),
    leashes: acpLeashes,
    // Three prompts of 1200 tokens each: "usage":{"inputTokens":3600,…} after the third.
    countsTogether: true,
    // "Info: /home/me/project/new.txt" after a permitted write
    aside: /^Info: /,
    // "Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 51.88 seconds) Last error: 429 …"
    fault: /^Error: /,
    failure: (message, now) => readMessage(shown, message.replace(/^Error: /, ''), now),
  },
  models: { names: ['auto'] },
  effort: {
    levels: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    words: (level) => `--reasoning-effort ${level}`,
    acp: true,
  },
  reaches: options('--add-dir='),
  resumes: true,
  // Copilot retries a limit five times over about a minute and reports it; no setting shortens that.
  env: { COPILOT_AUTO_UPDATE: 'false' },
  failure,
  lostThread: ({ err }) => /^Error: No session, task, or name matched/m.test(err),
  install: 'npm install -g @github/copilot',
  login: 'copilot login',
  version: 'copilot --version',
  traces: {
    files: ['.copilot/config.json'],
    env: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_BASE_URL'],
  },
  keys: ['COPILOT_GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY', 'COPILOT_PROVIDER_BEARER_TOKEN'],
  projectFiles: [
    ...['.github/copilot-instructions.md', '.github/hooks', '.github/copilot', '.github/mcp.json', '.mcp.json'],
    '.github/agents',
  ],
  // Copilot uses these files in folders that its own settings trust, and no flag or variable overrides that trust.
  guard: async (place) => (place.trusted || !(await isTrustedByCopilot(place)) ? {} : { refuses: true }),
  // Copilot unpacks its own programs into the cache: a sandboxed Copilot can read them, and new ones vanish after the run.
  files: (place) => {
    const own = place.env.COPILOT_HOME || join(place.home, '.copilot')
    const programs = cacheFolder(place, 'copilot', 'pkg', `${process.platform}-${process.arch}`)
    return { folders: [own, programs], sessions: [join(own, 'session-state')], fresh: [join(own, 'logs')] }
  },
  unsafe: /\s--(?:allow-all|yolo)\b/,
  mcp: {
    file: ({ home, env }) => join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'),
    format: 'json',
    path: ['mcpServers'],
    entry: ({ command, args }) => ({ type: 'local', command, args, tools: ['*'] }),
  },
  screen: copilotScreen,
  past: copilotPast,
  belongings: async () => (await import('./copilot-belongings.ts')).copilotBelongings,
}
