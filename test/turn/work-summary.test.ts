import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Event } from '../../src/core/talk/entry.ts'
import { WorkSummary } from '../../src/turn/rotation/attempt.ts'

const plain = (text: string) => text
const call = (tool: string, input: unknown): Event => ({ type: 'call', call: 'c', tool, input })

function handover(...events: Event[]) {
  const handover = new WorkSummary()
  for (const event of events) handover.see(event)
  return handover
}

test('calls are one-liners, files are those that writing calls named, the last words are the last said', () => {
  const seen = handover(
    { type: 'text', delta: 'I look ' },
    { type: 'text', delta: 'first.' },
    { type: 'reply', text: 'I look first.' },
    call('bash', { command: 'npm\n  test' }),
    call('file_reader', { file_path: 'src/a.ts' }),
    call('Edit', { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' }),
    call('file_change', { changes: [{ path: 'src/b.ts', kind: 'add' }] }),
    { type: 'text', delta: 'Half a sent' },
  )
  assert.deepEqual(seen.did(plain), {
    calls: [
      'bash: npm test',
      'file_reader: src/a.ts',
      'Edit: {"file_path":"src/a.ts","old_string":"a","new_string":"b"}',
      'file_change: {"changes":[{"path":"src/b.ts","kind":"add"}]}',
    ],
    files: ['src/a.ts', 'src/b.ts'],
    lastWords: 'Half a sent',
  })
  assert.deepEqual(seen.did(plain, ['README.md'])!.files, ['README.md'])
})

test('an agent that did nothing has nothing to hand over', () => {
  assert.equal(handover({ type: 'thought', delta: 'hm' }).did(plain), undefined)
})

test('a handover is bounded: the newest calls, the first files, the end of the words', () => {
  const calls = Array.from({ length: 500 }, (_, i) => call('bash', { command: `step ${i} ${'x'.repeat(100_000)}` }))
  const files = Array.from({ length: 400 }, (_, i) => `src/file-${i}.ts`)
  const did = handover({ type: 'text', delta: 'a'.repeat(9_000) + 'end' }, ...calls).did(plain, files)!
  assert.equal(did.calls.length, 11)
  assert.equal(did.calls[0], '… 490 earlier calls')
  assert.match(did.calls.at(-1)!, /^bash: step 499 x+…$/)
  assert.ok(did.calls.slice(1).every((line) => line.length === 200))
  assert.equal(did.files.at(-1), `… ${400 - (did.files.length - 1)} more files`)
  assert.ok(did.files.join('').length < 2_100)
  assert.equal(did.lastWords, 'a'.repeat(1_997) + 'end')
})

test('a secret is masked before the cut, so no half of it is left', () => {
  const secret = `sk-${'s'.repeat(300)}`
  const mask = (text: string) => text.replaceAll(secret, '[secret]')
  const did = handover(
    call('bash', { command: `curl -H ${'y'.repeat(150)} ${secret}` }),
    call('Write', { path: `/tmp/${secret}` }),
    { type: 'text', delta: `${secret}${'z'.repeat(1_900)}` },
  ).did(mask)!
  assert.deepEqual(did, {
    calls: [`bash: curl -H ${'y'.repeat(150)} [secret]`, 'Write: /tmp/[secret]'],
    files: ['/tmp/[secret]'],
    lastWords: `[secret]${'z'.repeat(1_900)}`,
  })
})
