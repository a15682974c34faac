import { test } from 'node:test'
import assert from 'node:assert/strict'
import { wholeFile } from '../../src/core/talk/question.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { seat } from './seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A seat whose formatter does to a file what `change` says. */
function formatted(t: Parameters<typeof seat>[0], change: (text: string) => string, problem?: string) {
  return seat(t, {
    async format(path) {
      if (!path.endsWith('.js')) return undefined
      writeFileSync(path, change(readFileSync(path, 'utf8')))
      return problem === undefined ? { command: 'fmt' } : { command: 'fmt', problem }
    },
  })
}

const semicolons = (text: string) => text.replaceAll(/(?<!;)$/gm, (_none, at) => (at === text.length ? '' : ';'))

test('changes of a formatter are part of the result, and the next edit fits', async (t) => {
  const { whole, say, at } = formatted(t, semicolons)
  assert.deepEqual(await whole('file_creator', { file_path: 'a.js', content: 'one()\ntwo();\n' }), {
    text: 'Wrote a.js (2 lines). The formatter (fmt) then changed a.js:\n@@ line 1\n-one()\n+one();',
    data: [{ path: 'a.js', after: 'one();\ntwo();\n', starts: wholeFile }],
  })
  const edits = [{ old_string: 'two();', new_string: 'two()\nthree()' }]
  assert.deepEqual(await whole('file_editor', { file_path: 'a.js', edits }), {
    text: 'Made 1 edit in a.js. The formatter (fmt) then changed a.js:\n@@ line 2\n-two()\n-three()\n+two();\n+three();',
    data: [{ path: 'a.js', before: 'one();\ntwo();\n', after: 'one();\ntwo();\nthree();\n', starts: wholeFile }],
  })
  const input = [
    '*** Begin Patch',
    '*** Update File: a.js',
    '@@',
    '-three();',
    '+four()',
    '*** Add File: b.txt',
    '+x',
    '*** End Patch',
  ]
  assert.deepEqual(await whole('apply_patch', { input: input.join('\n') }), {
    text: 'Changed a.js. The formatter (fmt) then changed a.js:\n@@ line 3\n-four()\n+four();\nAdded b.txt (1 line).',
    data: [
      { path: 'a.js', before: 'one();\ntwo();\nthree();\n', after: 'one();\ntwo();\nfour();\n', starts: wholeFile },
      { path: 'b.txt', after: 'x\n', starts: wholeFile },
    ],
  })
  assert.equal(
    await say('file_editor', { file_path: 'a.js', edits: [{ old_string: 'four();', new_string: 'five();' }] }),
    'Made 1 edit in a.js.',
  )
  assert.equal(readFileSync(at('a.js'), 'utf8'), 'one();\ntwo();\nfive();\n')
})

test('a formatter that changes more than can be shown makes the model read the file again', async (t) => {
  const { say } = formatted(t, semicolons)
  const content = Array.from({ length: 100 }, (_, i) => `f(${i})\n`).join('')
  golden(t, await say('file_creator', { file_path: 'a.js', content }))
  const edits = [{ old_string: 'f(1);', new_string: 'g(1);' }]
  golden(t, await say('file_editor', { file_path: 'a.js', edits }))
})

test('a formatter that fails, or breaks the file, fails no edit', async (t) => {
  const failing = formatted(t, (text) => text, 'a.js: Unexpected token (1:3)\n[exit code 2]')
  assert.equal(
    await failing.say('file_creator', { file_path: 'a.js', content: 'o(\n' }),
    'Wrote a.js (1 line). The formatter (fmt) failed on a.js: a.js: Unexpected token (1:3)\n[exit code 2]',
  )
  const broken = formatted(t, () => '\0')
  golden(t, await broken.say('file_creator', { file_path: 'a.js', content: 'one()\n' }))
  const thrown = seat(t, { format: async () => Promise.reject(new Error('no shell could be started.')) })
  assert.equal(
    await thrown.say('file_creator', { file_path: 'a.js', content: 'one()\n' }),
    'Wrote a.js (1 line). The formatter failed on a.js: no shell could be started.',
  )
})
