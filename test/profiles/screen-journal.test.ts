import type { Journalled } from '../../src/core/work/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { profileNamed } from '../../src/profiles/all.ts'
import { longAnswer } from '../real/scenes.ts'

const uuid = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`
const one = { input: 1200, output: 34, cached: 1000, held: 1234 }
const two = { input: 2400, output: 68, cached: 2000, held: 1234 }
const order = ['hang', 'shell', 'edit', 'long', 'fault'] as const
const shell = { answer: 'All is done for shell.', usage: two, over: true }
const long = { answer: longAnswer, usage: one, over: true }
const openai =
  '401 Incorrect API key provided: made-up. You can find your API key at https://platform.openai.com/account/api-keys.'

/** The facts that each journal tells of the turns it was recorded from: stopped, answered after a call, declined, long, failed. */
const expected: Record<string, { key?: string; turns: Record<(typeof order)[number], Journalled> }> = {
  claude: {
    key: uuid(1),
    turns: {
      hang: { over: false },
      shell,
      edit: { usage: one, over: true },
      long,
      fault: { fault: 'Invalid API key · Fix external API key', over: true },
    },
  },
  gemini: {
    key: uuid(1),
    turns: {
      hang: { over: true },
      shell: { answer: shell.answer, usage: two },
      edit: { usage: one, over: true },
      long: { answer: longAnswer, usage: one },
      fault: {
        fault:
          '[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}]',
        over: true,
      },
    },
  },
  codex: {
    key: uuid(2),
    turns: {
      hang: { over: true },
      shell,
      edit: { usage: one, over: true },
      long,
      fault: {
        fault: `unexpected status ${openai.replace('401', '401 Unauthorized:')}, url: http://127.0.0.1:1/v1/responses`,
        over: true,
      },
    },
  },
  qwen: {
    key: uuid(2),
    turns: {
      hang: { over: false },
      shell,
      edit: { usage: one, over: false },
      long,
      fault: { fault: openai, over: false },
    },
  },
  copilot: {
    turns: {
      hang: { over: true },
      shell,
      edit: { usage: one, over: true },
      long,
      fault: {
        fault:
          'Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).\n  Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.',
        over: true,
      },
    },
  },
}

/** A journal as it stood before the prompt after that scene was given. */
function linesThrough(cli: string, scene: string): string[] {
  const path = join(import.meta.dirname, '..', 'fixtures', 'journals', `${cli}.jsonl`)
  const lines = readFileSync(path, 'utf8').split('\n')
  const next = order[order.indexOf(scene as never) + 1]
  const at = next === undefined ? -1 : lines.findIndex((line) => line.includes(`scene:${next} now`))
  return (at < 0 ? lines : lines.slice(0, at)).filter((line) => line !== '')
}

for (const [cli, { key, turns }] of Object.entries(expected)) {
  const journal = profileNamed(cli)!.screen!.journal!
  test(`${cli}'s journal tells the outcome of each turn`, () => {
    assert.deepEqual(
      order.map((scene) => [scene, journal.read(linesThrough(cli, scene), `scene:${scene} now`)]),
      order.map((scene) => [scene, { ...(key === undefined ? {} : { key }), ...turns[scene] }]),
    )
  })

  test(`${cli}'s journal says nothing of a turn before it has begun, and stands a line that is half written`, () => {
    const before = linesThrough(cli, 'hang')
    assert.equal(journal.read(before, 'scene:shell now'), undefined)
    const half = [...linesThrough(cli, 'shell'), '{"type":"assist']
    assert.equal(journal.read(half, 'scene:shell now')?.answer, 'All is done for shell.')
  })
}

test('a journal is looked for where its CLI keeps it', () => {
  const place = { home: '/home/me', cwd: '/home/me/a project', env: {} }
  assert.deepEqual(
    Object.keys(expected).map((cli) => profileNamed(cli)!.screen!.journal!.folder(place)),
    [
      '/home/me/.claude/projects/-home-me-a-project',
      '/home/me/.gemini/tmp',
      '/home/me/.codex/sessions',
      '/home/me/.qwen/projects/-home-me-a-project/chats',
      '/home/me/.copilot/session-state',
    ],
  )
})
