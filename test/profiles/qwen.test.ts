import { test } from 'node:test'
import assert from 'node:assert/strict'
import { leashes } from '../../src/core/work/agent.ts'
import { qwen } from '../../src/profiles/qwen/qwen.ts'
import { kindOf, meanings, recorded, replay } from './replay.ts'

test('the last words of Qwen in text mode say what went wrong, and those of an answer do not', () => {
  assert.equal(
    kindOf(qwen, { err: 'Ripgrep not available\n[API Error: 429 Free allocated quota exceeded.]\n' }),
    'quota',
  )
  assert.equal(kindOf(qwen, { err: 'No auth type is selected. Please configure an auth type\n' }), 'auth')
  assert.equal(kindOf(qwen, { out: '[API Error: 429 Free allocated quota exceeded.]\n' }), undefined)
})

test('each leash is an approval mode, and handed-in values are quoted', () => {
  const started = 'qwen --output-format stream-json --include-partial-messages --approval-mode'
  const unasked = 'enter_worktree,exit_worktree,cron_create,cron_delete,record_artifact'
  assert.deepEqual(
    leashes.map((leash) => qwen.command({ leash })),
    [
      `${started} plan --exclude-tools run_shell_command,edit,write_file,notebook_edit,agent,${unasked}`,
      `${started} default --exclude-tools ${unasked}`,
      `${started} auto-edit --exclude-tools ${unasked}`,
      `${started} yolo`,
    ],
  )
  assert.equal(qwen.command({ leash: 'all', resume: 'a b', model: 'm' }), `${started} yolo --model m --resume 'a b'`)
})

test('without partial messages the text is shown once, when it is whole', () => {
  const { ended } = recorded('qwen').answer!
  const out = ended.out
    .split('\n')
    .filter((line) => !line.includes('"stream_event"'))
    .join('\n')
  assert.deepEqual(replay(qwen, { args: '', ended: { ...ended, out } }), meanings('qwen').answer)
})
