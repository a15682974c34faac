import { planResets } from './model-server.ts'
import { realTurns } from './turns.ts'

const day = new Date(planResets * 1000).toLocaleDateString('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })

realTurns('claude', {
  act: { tool: 'Write', input: { file_path: 'new.txt', content: 'new\n' } },
  denials: { ask: ['Write: new.txt'], read: ['Write: new.txt'] },
  usage: { input: 1200, output: 34, cached: 1000, cost: 0.00168, source: 'reported' },
  busy: {
    kind: 'busy',
    message:
      "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
  },
  auth: { kind: 'auth', message: 'Invalid API key · Fix external API key' },
  spent: {
    trouble: 'plan',
    env: { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'made-up' },
    failure: {
      kind: 'quota',
      message: `You've hit your 5-hour limit · resets ${day}, 3pm (UTC)`,
      retryAt: planResets * 1000,
    },
  },
})
