import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { leashes } from '../../src/core/work/agent.ts'
import { aider } from '../../src/profiles/aider.ts'
import { amp } from '../../src/profiles/amp.ts'
import { cline } from '../../src/profiles/cline.ts'
import { crush } from '../../src/profiles/crush.ts'
import { now } from './replay.ts'

test('a CLI that cannot ask or be limited has the leash all alone', () => {
  for (const profile of [amp, cline, crush]) assert.deepEqual(Object.keys(profile.leashes), ['all'])
})

test('with every leash open they run headless, and a model is quoted', () => {
  assert.deepEqual(
    [amp, cline, crush].map((profile) => profile.command({ leash: 'all', model: 'a b' })),
    ['amp --execute', "cat | cline --yolo --model 'a b'", "crush run --quiet --model 'a b'"],
  )
})

test('aider is asked without edits, or edits without a shell', () => {
  const flags = (leash: (typeof leashes)[number]) =>
    aider
      .command({ leash })
      .split(' --')
      .filter((flag) => /^(?:chat-mode|no-suggest)/.test(flag))
  assert.deepEqual(leashes.map(flags), [
    ['chat-mode ask', 'no-suggest-shell-commands'],
    ['chat-mode ask', 'no-suggest-shell-commands'],
    ['no-suggest-shell-commands'],
    [],
  ])
})

test('aider finds its prompt where the command says', () => {
  const stub = aider.command({ leash: 'all' }).replace(/\| aider .*/, '| cat /dev/stdin')
  assert.equal(execFileSync('bash', ['-c', stub], { input: 'prompt', encoding: 'utf8' }), 'prompt')
})

test('aider exits with 0 whatever happened: an account of tokens tells an answer from an error', () => {
  const said = 'litellm.RateLimitError: OpenAIException - You exceeded your current quota'
  const account = 'Tokens: 4.6k sent, 139 received. Cost: $0.02 message, $0.02 session.'
  const ended = (out: string) => aider.failure({ out, err: '', code: 0, now })
  assert.deepEqual(ended(`${said}\n`), { kind: 'quota', message: said })
  assert.equal(ended(`${said}\n\n${account}\n`), undefined)
  assert.equal(ended('All done.\n'), undefined)
})
