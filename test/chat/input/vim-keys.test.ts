import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../../cases.ts'
import { onCell, VimKeys } from '../../../src/chat/input/vim-keys.ts'

/** A text with its cursor as `|`, after these keys; text that is typed in insert mode is between < and >. */
function after(text: string, keys: string): string {
  const vim = new VimKeys()
  let [cells, at] = [[...text.replace('|', '')], text.indexOf('|')]
  const past: { cells: string[]; at: number }[] = []
  let mode = 'normal'
  for (const [, typed, key] of keys.matchAll(/<([^>]*)>|([^])/g)) {
    if (typed !== undefined) {
      cells = [...cells.slice(0, at), ...typed, ...cells.slice(at)]
      at = onCell(cells, at + typed.length - 1)
      mode = 'normal'
      continue
    }
    const step = vim.press(key!, { cells, at })
    if (step.undo) ({ cells, at } = past.pop() ?? { cells, at })
    else {
      if (step.cells) past.push({ cells, at })
      ;({ mode, at } = step)
      cells = [...(step.cells ?? cells)]
    }
  }
  const shown = [...cells.slice(0, at), '|', ...cells.slice(at)].join('')
  return mode === 'insert' ? `${shown} (insert)` : shown
}

const rows: Record<string, readonly [text: string, keys: string, result: string][]> = {
  'moves over characters and lines': [
    ['|one two', 'll', 'on|e two'],
    ['one| two', 'hh', 'o|ne two'],
    ['|one', '9l', 'on|e'],
    ['on|e\ntwo\nx', 'j', 'one\ntw|o\nx'],
    ['one\ntw|o\nx', 'j', 'one\ntwo\n|x'],
    ['one\n|two', 'k', '|one\ntwo'],
    ['  on|e', '0', '|  one'],
    ['  on|e', '^', '  |one'],
    ['|one two', '$', 'one tw|o'],
    ['one\ntw|o\nx', 'gg', '|one\ntwo\nx'],
    ['|one\ntwo\nx', 'G', 'one\ntwo\n|x'],
    ['one\n\n|x', 'k', 'one\n|\nx'],
  ],
  'moves over words': [
    ['|one two', 'w', 'one |two'],
    ['|a.b c', 'w', 'a|.b c'],
    ['|a.b c', 'W', 'a.b |c'],
    ['|one\ntwo', 'w', 'one\n|two'],
    ['|one\n\ntwo', 'w', 'one\n|\ntwo'],
    ['one tw|o', 'b', 'one |two'],
    ['one |two', 'b', '|one two'],
    ['a.b| c', '2b', 'a|.b c'],
    ['|one two', 'e', 'on|e two'],
    ['on|e two', 'e', 'one tw|o'],
    ['|one two three', '2w', 'one two |three'],
    ['|grün über', 'w', 'grün |über'],
  ],
  'finds a character in the line': [
    ['|one two', 'ft', 'one |two'],
    ['|one two', 'tt', 'one| two'],
    ['one tw|o', 'Fo', '|one two'],
    ['one tw|o', 'To', 'o|ne two'],
    ['|a,b,c', 'f,;', 'a,b|,c'],
    ['|a,b,c', '2f,,', 'a|,b,c'],
    ['|one', 'fx', '|one'],
    ['|a,b', 't,;', '|a,b'],
  ],
  'deletes, changes and yanks with a motion': [
    ['|one two', 'dw', '|two'],
    ['one |two\nx', 'dw', 'one| \nx'],
    ['|one two three', 'd2w', '|three'],
    ['|one two three', '2dw', '|three'],
    ['one |two', 'd$', 'one| '],
    ['one |two', 'd0', '|two'],
    ['one |two', 'db', '|two'],
    ['|one two', 'de', '| two'],
    ['|one two', 'dft', '|wo'],
    ['|one two', 'dtt', '|two'],
    ['one\n|two\nx', 'dd', 'one\n|x'],
    ['one\n|two', 'dd', '|one'],
    ['|one', 'dd', '|'],
    ['|one\ntwo\nx', '2dd', '|x'],
    ['|one\ntwo\nx', 'dj', '|x'],
    ['one\ntwo\n|x', 'dgg', '|'],
    ['|one two', 'cw', '| two (insert)'],
    ['|one two', 'cw<six>', 'si|x two'],
    ['  o|ne\nx', 'cc', '|\nx (insert)'],
    ['one |two', 'C', 'one | (insert)'],
    ['one t|wo three', 'diw', 'one | three'],
    ['one t|wo three', 'daw', 'one |three'],
    ['one t|wo', 'daw', 'on|e'],
    ['one t|wo three', 'ciw<x>', 'one |x three'],
  ],
  'puts what was taken': [
    ['|one two', 'dwp', 'tone| wo'],
    ['|one two', 'ywP', 'one| one two'],
    ['|one\ntwo', 'yyp', 'one\n|one\ntwo'],
    ['|one\ntwo', 'ddp', 'two\n|one'],
    ['one\n|two', 'YP', 'one\n|two\ntwo'],
    ['|ab', 'xp', 'b|a'],
    ['|ab', 'yl3p', 'aaa|ab'],
    ['|ab', 'p', '|ab'],
  ],
  'edits single characters and lines': [
    ['|one', 'x', '|ne'],
    ['on|e', 'x', 'o|n'],
    ['|one', '2x', '|e'],
    ['on|e', 'X', 'o|e'],
    ['|one', 'rx', '|xne'],
    ['|one', '2rx', 'x|xe'],
    ['on|e', '2rx', 'on|e'],
    ['o|ne two', 'D', '|o'],
    ['|one\ntwo', 'J', 'one| two'],
    ['|', 'x', '|'],
  ],
  'begins insert mode where people expect it': [
    ['o|ne', 'i', 'o|ne (insert)'],
    ['  o|ne', 'I', '  |one (insert)'],
    ['o|ne', 'a', 'on|e (insert)'],
    ['o|ne', 'A', 'one| (insert)'],
    ['o|ne\nx', 'o', 'one\n|\nx (insert)'],
    ['o|ne', 'O', '|\none (insert)'],
    ['|one', 's<x>', '|xne'],
    ['|one', 'S', '| (insert)'],
  ],
  'undoes and repeats': [
    ['|one two', 'dwu', '|one two'],
    ['|one two three', 'dw.', '|three'],
    ['|abcdef', '2x.', '|ef'],
    ['|one', 'q', '|one'],
    ['|one two', 'dqw', 'one |two'],
  ],
}

for (const [name, cases] of Object.entries(rows))
  test(`vim ${name}`, () => {
    const results = cases.map(([text, keys]) => [text, keys, after(text, keys)])
    assert.deepEqual(results, cases)
  })

test('whatever is typed, the cursor is on a cell of the text, and nothing fails', () => {
  const texts = fc.array(fc.constantFrom('a', 'ü', '.', ' ', '\n', '[paste #1 12 chars]'), { maxLength: 12 })
  const typed = fc.array(fc.constantFrom(...'hjklwbeWBE0^$xXDCYpPuJrftFT;,dcyiIaAoOsSG.g23'), { maxLength: 14 })
  fc.assert(
    fc.property(texts, typed, fc.nat(12), (start, keys, place) => {
      const vim = new VimKeys()
      let cells: readonly string[] = start
      let at = onCell(cells, place)
      for (const key of keys) {
        const step = vim.press(key, { cells, at })
        cells = step.cells ?? cells
        at = step.mode === 'normal' ? onCell(cells, step.at) : step.at
        assert.ok(at >= 0 && at <= cells.length, `${JSON.stringify(start)} ${keys.join('')}`)
        if (step.mode === 'normal' && step.cells) assert.equal(step.at, at, `${JSON.stringify(start)} ${keys.join('')}`)
      }
    }),
  )
})
