import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { allProfiles } from '../../src/profiles/all.ts'

const speakers = allProfiles().filter(({ acp }) => acp !== undefined)

test('a CLI that speaks ACP by itself says what every leash means', () => {
  assert.deepEqual(
    speakers.map(({ name, acp }) => [name, Object.keys(acp!.leashes)]),
    ['gemini', 'opencode', 'qwen', 'copilot'].map((name) => [name, [...leashes]]),
  )
})

test('no leash starts a CLI with its own safety off: each request is answered by the leash', () => {
  for (const { name, acp, unsafe } of speakers)
    for (const leash of leashes) assert.doesNotMatch(acp!.command({ leash }), unsafe!, `${name} ${leash}`)
})

test('a model that is asked for is handed on as one word', () => {
  const commands = speakers.map(({ name, acp }) => [name, acp!.command({ leash: 'all', model: "it's" })])
  assert.deepEqual(
    commands.flatMap(([name, command]) => (command!.includes(`'it'\\''s'`) ? [name] : [])),
    ['gemini', 'qwen', 'copilot'],
  )
})

test('errors that come as JSON-RPC are read by the same signs', () => {
  const read = (name: string, message: string) =>
    speakers.find((profile) => profile.name === name)!.acp!.failure(message, 0)?.kind
  // Each as the real CLI answered it to a refused key or a spent quota.
  assert.deepEqual(
    [
      read('gemini', 'You have exhausted your daily quota on this model.'),
      read(
        'qwen',
        '401 Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.',
      ),
      read('opencode', 'Internal error: Incorrect API key provided: made-up.'),
      read(
        'copilot',
        'Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 51.88 seconds) Last error: 429 You exceeded your current quota, please check your plan and billing details.',
      ),
      read(
        'copilot',
        'Error: Authentication failed with provider at http://127.0.0.1:4101/v1 (HTTP 401).\n  Check your COPILOT_PROVIDER_API_KEY.',
      ),
      read('gemini', 'no such model'),
    ],
    ['quota', 'auth', 'auth', 'quota', 'auth', undefined],
  )
})
