import type { Journalled, JournalLine } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { turnIn } from '../../src/agents/screen/journal-reader.ts'
import { cleanText } from '../../src/base/text/ansi.ts'
import { profileNamed } from '../../src/profiles/all.ts'
import fc from '../cases.ts'
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
function linesThrough(cli: string, scene: string): JournalLine[] {
  const path = join(import.meta.dirname, '..', 'fixtures', 'journals', `${cli}.jsonl`)
  const lines = readFileSync(path, 'utf8').split('\n')
  const next = order[order.indexOf(scene as never) + 1]
  const at = next === undefined ? -1 : lines.findIndex((line) => line.includes(`scene:${next} now`))
  return (at < 0 ? lines : lines.slice(0, at)).filter((line) => line !== '').map((line) => JSON.parse(line))
}

const promptOf = (scene: string) => ({ text: `please scene:${scene} now` })

/** The same lines with other words in place of those of a prompt. */
function reworded(lines: readonly JournalLine[], from: string, to: string): JournalLine[] {
  const other = (value: unknown): unknown => {
    if (value === from) return to
    if (Array.isArray(value)) return value.map(other)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, other(part)]))
  }
  return lines.map((line) => JSON.parse(JSON.stringify(other(line))))
}

/** Prompts of one line and of many, up to 100 kB, with everything in them that JSON escapes, terminals change and screens widen. */
const part = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '"',
    '\\',
    '\\"',
    '\t',
    '\n',
    '\r\n',
    '{{x.result}}',
    '日本語',
    '👩‍👩‍👧',
    'e\u0301',
    '\u00a0',
    '<b>',
    '\ufeff',
  ),
  fc.constantFrom('\u0000', '\u0007', '\u001b[31m', '\u001b[201~', '\u2028', '\ud800', '\u200b'),
)
const prompts = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 12 }), fc.constantFrom(1, 1, 1, 2_000))
  .map(([parts, times]) => parts.join(' ').repeat(times).slice(0, 100_000))
  .filter((text) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(cleanText(text)))

/** How the CLIs store the words that they were given. */
const stores: ((pasted: string) => string)[] = [
  (pasted) => pasted,
  (pasted) => pasted.trim(),
  (pasted) => pasted.replaceAll('\t', '    ').replaceAll('\n', '\r\n'),
  (pasted) => pasted.normalize('NFC'),
  (pasted) => pasted.normalize('NFD'),
  (pasted) => pasted.replaceAll(/[\u200b-\u200d\ufeff]/g, ''),
  (pasted) => `${pasted}\n\nContent of a file that it mentions`,
]

for (const [cli, { key, turns }] of Object.entries(expected)) {
  const journal = profileNamed(cli)!.screen!.journal!
  const whole = (scene: (typeof order)[number]) => ({ ...(key === undefined ? {} : { key }), ...turns[scene] })
  test(`${cli}'s journal tells the outcome of each turn`, () => {
    assert.deepEqual(
      order.map((scene) => [scene, turnIn(journal, linesThrough(cli, scene), promptOf(scene))]),
      order.map((scene) => [scene, whole(scene)]),
    )
  })

  test(`${cli}'s journal says nothing of a turn before it has begun`, () => {
    assert.equal(turnIn(journal, linesThrough(cli, 'hang'), promptOf('shell')), undefined)
  })

  test(`${cli}'s journal tells the outcome of a turn whatever its prompt holds`, () => {
    const lines = linesThrough(cli, 'shell')
    fc.assert(
      fc.property(prompts, fc.constantFrom(...stores), (prompt, store) => {
        const stored = reworded(lines, promptOf('shell').text, store(cleanText(prompt).toWellFormed()))
        assert.deepEqual(turnIn(journal, stored, { text: prompt }), whole('shell'))
      }),
    )
  })

  test(`${cli}'s journal tells the outcome of the only prompt since the paste, whatever became of its words`, () => {
    const lines = linesThrough(cli, 'shell')
    const at = lines.findIndex((line) => journal.prompt(line) === promptOf('shell').text)
    const since = reworded(lines.slice(at), promptOf('shell').text, '[Pasted text #1]')
    const asked = { text: 'words that are nowhere' }
    const { key: _, ...rest } = turnIn(journal, since, asked, true)!
    assert.deepEqual(rest, turns.shell)
    assert.deepEqual(
      [turnIn(journal, since, asked), turnIn(journal, lines, asked, true)],
      [undefined, undefined],
      'it is not taken in another session, nor among several prompts',
    )
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
