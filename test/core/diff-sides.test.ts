import { test } from 'node:test'
import assert from 'node:assert/strict'
import { diffSides, shownPatch } from '../../src/core/work/diff-sides.ts'

test('the sides of a diff have the numbers of their hunks, and no line break that is not there', () => {
  const two = diffSides('@@ -3,2 +3,2 @@ head\n one\n-two\n+zwei\n@@ -20 +20 @@\n-end\n\\ No newline\n+end\n')
  assert.deepEqual(two, {
    before: 'one\ntwo\n⋮\nend',
    after: 'one\nzwei\n⋮\nend\n',
    starts: [
      [3, 3],
      [20, 20],
    ],
  })
  assert.deepEqual(diffSides('@@\n-a\n+b\n'), { before: 'a\n', after: 'b\n' })
})

test('a patch is shown as a diff for each file', () => {
  const patch = [
    'diff --git a/src/a.ts b/src/a.ts',
    'index 1..2 100644',
    '--- a/src/a.ts',
    '+++ b/src/a.ts',
    '@@ -10 +10 @@',
    '-old',
    '+diff --git a/x b/x',
    'diff --git a/new.txt b/new.txt',
    'new file mode 100644',
    '--- /dev/null',
    '+++ b/new.txt',
    '@@ -0,0 +1 @@',
    '+new',
    'diff --git a/run.sh b/run.sh',
    'old mode 100644',
    'new mode 100755',
    '',
  ].join('\n')
  assert.deepEqual(shownPatch(patch), [
    {
      type: 'diff',
      path: 'src/a.ts',
      before: 'old\n',
      after: 'diff --git a/x b/x\n',
      starts: [[10, 10]],
    },
    { type: 'diff', path: 'new.txt', after: 'new\n', starts: [[0, 1]] },
    { type: 'text', text: 'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755' },
  ])
  assert.deepEqual(shownPatch(''), [])
})
