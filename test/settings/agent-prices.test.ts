import { test } from 'node:test'
import assert from 'node:assert/strict'
import { priceKnowledge } from '../../src/settings/agent-prices.ts'
import { agentOf } from '../../src/settings/agent-settings.ts'

const of = (written: object) => priceKnowledge(agentOf({ name: 'a', contextWindowTokens: 1, ...written }))

test('the cost of an answer is known by the price list, by the report of its provider or CLI, or not at all', () => {
  assert.deepEqual(
    {
      listed: of({ kind: 'native', model: 'anthropic/claude-sonnet-4-5' }),
      newer: of({ kind: 'native', model: 'anthropic/claude-sonnet-99' }),
      reported: of({ kind: 'native', model: 'openrouter/some/model' }),
      local: of({ kind: 'native', model: 'ollama/qwen3' }),
      server: of({ kind: 'native', model: 'compatible/mine' }),
      wrong: of({ kind: 'native', model: 'nobody/mine' }),
      claude: of({ profile: 'claude' }),
      codex: of({ profile: 'codex' }),
      'claude in a terminal': of({ kind: 'screen', profile: 'claude' }),
      'claude without its dialect': of({ command: 'claude -p', profile: 'claude' }),
      'a command': of({ command: 'my-agent' }),
    },
    {
      listed: 'known',
      newer: 'unknown',
      reported: 'known',
      local: 'free',
      server: 'unknown',
      wrong: 'unknown',
      claude: 'known',
      codex: 'unknown',
      'claude in a terminal': 'unknown',
      'claude without its dialect': 'unknown',
      'a command': 'unknown',
    },
  )
})
