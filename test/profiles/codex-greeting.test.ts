import type { Dialect, Step } from '../../src/core/profile/profile.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { profileNamed } from '../../src/profiles/all.ts'

/** The requests that steps send, by their method, with the text of a prompt among them. */
const requests = (steps: readonly Step[]) => steps.flatMap((step) => (step.type === 'send' ? methods(step.text) : []))

const methods = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ method, params }) =>
      [method, ...(params?.input ?? []).map((part: { text: string }) => part.text)].join(' '),
    )

const answer = (dialect: Dialect, id: number, result: object) => dialect.line(JSON.stringify({ id, result }))

const fresh = () => profileNamed('codex')!.dialect!({ leash: 'ask' })

const thread = { thread: { id: '0199a213-81c0-7800-8aa1-bbab2a035a53', cwd: '/work' } }

test('the thread is open before the prompt, which then begins a turn at once', () => {
  const dialect = fresh()
  const greeted = methods(dialect.greet!())
  const asked = requests(answer(dialect, 1, {}))
  const began = answer(dialect, 2, thread)
  assert.deepEqual(
    [greeted, asked, requests(began), began.map(({ type }) => type), methods(dialect.open('hello'))],
    [
      ['initialize'],
      ['initialized', 'thread/start'],
      ['account/rateLimits/read'],
      ['thread', 'send'],
      ['turn/start hello'],
    ],
  )
})

test('a prompt that comes before the thread is open is sent once it is, and only once', () => {
  const dialect = fresh()
  dialect.greet!()
  const early = dialect.open('hello')
  answer(dialect, 1, {})
  assert.deepEqual([early, requests(answer(dialect, 2, thread))], ['', ['turn/start hello', 'account/rateLimits/read']])
})
