import { test } from 'node:test'
import assert from 'node:assert/strict'
import { inlineParts, markdownTree } from '../../../src/page/browser/talk/markdown-tree.ts'

test('headings, lists, code, quotes and tables are read as a tree', () => {
  const text = `# Title #

Some *words* and **more**, \`code\`,
on two lines.

1. one
2. two
   - [x] done
   - [ ] open

   still two

\`\`\`ts
const a = '# no title'
\`\`\`

> quoted
> - item

| a | b |
|---|--:|
| 1 | \`x\\|y\` |

---
end`
  const words = (text: string) => ({ type: 'paragraph', parts: [text] })
  assert.deepEqual(markdownTree(text), [
    { type: 'heading', level: 1, parts: ['Title'] },
    {
      type: 'paragraph',
      parts: [
        'Some ',
        { type: 'em', parts: ['words'] },
        ' and ',
        { type: 'strong', parts: ['more'] },
        ', ',
        { type: 'code', text: 'code' },
        ',\non two lines.',
      ],
    },
    {
      type: 'list',
      start: 1,
      items: [
        { blocks: [words('one')] },
        {
          blocks: [
            words('two'),
            {
              type: 'list',
              items: [
                { checked: true, blocks: [words('done')] },
                { checked: false, blocks: [words('open')] },
              ],
            },
            words('still two'),
          ],
        },
      ],
    },
    { type: 'code', language: 'ts', text: "const a = '# no title'" },
    {
      type: 'quote',
      blocks: [words('quoted'), { type: 'list', items: [{ blocks: [words('item')] }] }],
    },
    {
      type: 'table',
      aligns: ['left', 'right'],
      heads: [['a'], ['b']],
      rows: [[['1'], [{ type: 'code', text: 'x\\|y' }]]],
    },
    { type: 'rule' },
    words('end'),
  ])
})

test('only addresses that a page may open become links; everything else is text', () => {
  assert.deepEqual(inlineParts('see https://a.example/x_y(z), or [here](mailto:a@b.c).'), [
    'see ',
    { type: 'link', href: 'https://a.example/x_y(z', parts: ['https://a.example/x_y(z'] },
    '), or ',
    { type: 'link', href: 'mailto:a@b.c', parts: ['here'] },
    '.',
  ])
  for (const href of [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,<script>',
    'file:///etc/passwd',
    'vbscript:x',
    '/api/tasks',
    '//evil.example',
    'blob:x',
  ]) {
    const parts = markdownTree(`[click](${href})`).flatMap((block) => (block.type === 'paragraph' ? block.parts : []))
    assert.ok(
      parts.every((part) => typeof part === 'string'),
      href,
    )
  }
  assert.deepEqual(inlineParts('![shot](https://a.example/x.png)'), [{ type: 'picture', words: 'shot' }])
  assert.deepEqual(inlineParts('<img src=x onerror=alert(1)>'), ['<img src=x onerror=alert(1)>'])
})

test('hostile text is read in reasonable time and loses nothing', () => {
  const wordsIn = (node: unknown): string =>
    typeof node === 'string'
      ? node
      : Array.isArray(node)
        ? node.map(wordsIn).join('')
        : Object.entries(node as object)
            .filter(([key]) => ['parts', 'blocks', 'items', 'text', 'rows', 'heads'].includes(key))
            .map(([, value]) => wordsIn(value))
            .join('')
  for (const mark of ['*', '**a', '`', '``x`', '[', '[a](', '_a', '~~', '> ', '- ', '|a', '\\', '<']) {
    const text = `so ${mark.repeat(15_000 / mark.length)} end`
    assert.ok(wordsIn(markdownTree(text)).includes('end'), mark)
  }
  const long = 'word '.repeat(200_000)
  assert.equal(wordsIn(markdownTree(long)), long.trim())
})
