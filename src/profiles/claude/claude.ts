import type { CliFiles, CliPlace, Ended, Profile } from '../../core/profile/profile.ts'
import type { Sign } from '../shared/failure-signs.ts'
import { join } from 'node:path'
import { claudePast } from './claude-past.ts'
import { questionTool } from './claude-questions.ts'
import { claudeDialect } from './claude-dialect.ts'
import { flags, leashes, planFlags, claudeScreen } from './claude-screen.ts'
import { commandLine, hasFlag, option, options } from '../shared/command-words.ts'
import { readMessage, readSigns } from '../shared/failure-signs.ts'

export const signs: readonly Sign[] = [
  {
    kind: 'quota',
    says: /^You['’]ve hit your .{0,40}limit(?: ·|$)/,
    said: "You've hit your 5-hour limit · resets 3pm (UTC)",
  },
  {
    kind: 'quota',
    says: /^(?:Claude (?:AI |Max |Pro )?)?usage limit reached(?:\|\d+$|\. Your limit will reset at )/i,
    said: 'Claude AI usage limit reached|1751922000',
  },
  {
    kind: 'quota',
    says: /^(?:5-hour|Weekly|Opus weekly) limit reached ∙ resets /i,
    said: '5-hour limit reached ∙ resets 3pm',
  },
  { kind: 'quota', says: /^Credit balance is too low/, said: 'Credit balance is too low' },
  { kind: 'overflow', says: /^Prompt is too long/, said: 'Prompt is too long · the request is ~250000 tokens' },
  { kind: 'auth', says: /^Not logged in\b/, said: 'Not logged in · Please run /login' },
  { kind: 'auth', says: /^Invalid API key\b/, said: 'Invalid API key · Fix external API key' },
  { kind: 'auth', says: /· Please run \/login$/, said: 'OAuth token revoked · Please run /login' },
  {
    kind: 'busy',
    says: /^API Error: Request rejected \(429\)/,
    said: "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
  },
  {
    kind: 'busy',
    says: /^API Error: (?:429|5\d\d)(?:$| \{| (?:\w+ ){0,3}\w+\.(?: |$))/,
    said: 'API Error: 529 Overloaded. This is a server-side issue',
  },
  {
    kind: 'busy',
    says: /^API Error: Connection to the API was lost/,
    said: 'API Error: Connection to the API was lost (ECONNRESET). This is usually temporary — try again.',
  },
]

/** Older versions printed this message as if it were an answer. */
const saidWithExitZero = signs.filter(({ said }) => said.startsWith('Claude AI usage limit'))

function failure(ended: Ended) {
  const out = ended.out.trim()
  if (ended.code === 0) return readMessage(saidWithExitZero, out, ended.now)
  // An error replaces the answer: one line and nothing else.
  return readSigns(signs, { ...ended, out: out.includes('\n') ? '' : out })
}

/**
 * Claude Code writes one session per conversation, and stores counters, onboarding, MCP servers and the trust in folders in one file.
 * Trust and servers do not count as state, because a read-only agent could grant itself either for the next run.
 */
function claudeFiles({ home, cwd, env }: CliPlace): CliFiles {
  const own = env.CLAUDE_CONFIG_DIR || join(home, '.claude')
  const sessions = claudeScreen.journal!.folder({ home, cwd, env })
  return {
    folders: [own],
    sessions: [sessions],
    fresh: ['todos', 'shell-snapshots', 'session-env', 'file-history', 'debug', 'statsig', 'tasks', 'cache'].map(
      (name) => join(own, name),
    ),
    steering: [join(sessions, 'memory')],
    returned: [
      { path: join(own, '.credentials.json'), keys: ['claudeAiOauth'] },
      {
        path: join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
        keys: [
          'numStartups',
          'firstStartTime',
          'userID',
          'hasCompletedOnboarding',
          'lastOnboardingVersion',
          'tipsHistory',
        ],
      },
    ],
  }
}

const twoWay = (command: string) => hasFlag(command, ['--input-format'], 'stream-json')

export const claude: Profile = {
  name: 'claude',
  title: 'Claude Code',
  vendor: 'Anthropic',
  words: ['claude'],
  window: 200_000,
  command: ({ leash, resume, model, attended, plans }) =>
    commandLine(
      'claude -p --input-format stream-json --output-format stream-json --verbose --include-partial-messages',
      '--permission-prompt-tool stdio',
      // Without a person to answer, the tool would only add its description to every request.
      ...(attended ? [] : [`--disallowedTools ${questionTool}`]),
      plans ? planFlags : flags[leash],
      option('--model', model),
      option('--resume', resume),
    ),
  leashes,
  speaks: (command) => hasFlag(command, ['-p', '--print']) && hasFlag(command, ['--output-format'], 'stream-json'),
  dialect: ({ command, plans } = {}) =>
    claudeDialect(signs, failure, { asks: command === undefined || twoWay(command), plans }),
  planMode: {
    words:
      'There is no tool here that writes files, so write no plan file. When the plan is final, answer with the whole plan as text and call ExitPlanMode in that answer.',
  },
  lends: claudeScreen.lends,
  models: { names: ['fable', 'opus', 'sonnet', 'haiku', 'opusplan'] },
  effort: {
    levels: ['low', 'medium', 'high', 'xhigh', 'max'],
    words: (level) => `--effort ${level}`,
  },
  reportsCost: true,
  reaches: options('--add-dir='),
  resumes: true,
  // One retry overcomes a short failure; ten would take minutes while another agent is free.
  env: { CLAUDE_CODE_MAX_RETRIES: '1' },
  failure,
  lostThread: ({ err }) => /^No conversation found with session ID/m.test(err),
  install: 'npm install -g @anthropic-ai/claude-code',
  login: 'claude auth login',
  version: 'claude --version',
  loggedIn: 'claude auth status',
  traces: {
    files: ['.claude/.credentials.json'],
    env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  },
  keys: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_FOUNDRY_API_KEY',
    'ANTHROPIC_CUSTOM_HEADERS',
    'AWS_BEARER_TOKEN_BEDROCK',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_OAUTH_REFRESH_TOKEN',
  ],
  instructionFiles: ['CLAUDE.md'],
  projectFiles: [
    ...['.mcp.json', '.claude/settings.json', '.claude/settings.local.json'],
    ...['.claude/agents', '.claude/commands', '.claude/skills'],
  ],
  // Without the project's settings Claude Code reads none of its files; from an added folder it still reads CLAUDE.md.
  guard: ({ trusted }) =>
    trusted
      ? {}
      : {
          words: '--setting-sources user --add-dir=.',
          env: { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1' },
        },
  files: claudeFiles,
  unsafe: /--(?:allow-)?dangerously-skip-permissions|\bbypassPermissions\b/,
  mcp: {
    file: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    format: 'json',
    path: ['mcpServers'],
    entry: ({ command, args }) => ({ type: 'stdio', command, args }),
  },
  screen: claudeScreen,
  past: claudePast,
  belongings: async () => (await import('./claude-belongings.ts')).claudeBelongings,
}
