import type { Entry } from '../../src/core/talk/entry.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { maskedEntry } from '../../src/border/vendor-border.ts'
import { eventWords } from '../../src/chat/line-words.ts'
import { foldEvent } from '../../src/chat/transcript/fold.ts'
import { remarkOf } from '../../src/core/talk/notice.ts'
import { logWords } from '../../src/crew/machine/crew-log.ts'
import { localTime } from '../../src/base/time/local-time.ts'

const kept = { id: 'e', at: 0, by: 'amber', session: 's', turn: 't' }

const remarks: readonly Entry[] = [
  { ...kept, type: 'note', text: 'The disk is nearly full.' },
  { ...kept, type: 'notification', status: 'done', text: 'The tests pass.', from: ['worker'] },
]

for (const entry of remarks)
  test(`a ${entry.type} has the same words on every screen`, () => {
    const remark = remarkOf(entry)
    assert.ok(remark?.includes((entry as { text: string }).text))
    const blocks = foldEvent([], entry, { turn: 't', at: 0, mint: () => 1 })
    assert.deepEqual(
      {
        chat: blocks.map((block) => [block.type, 'text' in block && block.text]),
        lines: eventWords(entry, 0),
        crew: logWords([entry], 'amber'),
      },
      { chat: [['note', remark]], lines: remark, crew: `${localTime(0)} (${remark})` },
    )
  })

test('every text of a fact is masked for another vendor, whatever its type', () => {
  const texts: readonly Entry[] = [
    ...remarks,
    { ...kept, type: 'prompt', text: 'key' },
    { ...kept, type: 'guide', name: 'paint', text: 'key' },
    { ...kept, type: 'changes', text: 'key' },
    { ...kept, type: 'result', call: 'c', ok: true, text: 'key' },
  ]
  assert.deepEqual(
    texts.map((entry) => (maskedEntry(entry, () => '…') as { text?: string }).text),
    texts.map(() => '…'),
  )
})
