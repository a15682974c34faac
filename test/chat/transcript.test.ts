import { withResult } from '../../src/chat/transcript/call-blocks.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { shortPath } from '../../src/base/files/short-path.ts'
import { wholeFile } from '../../src/core/talk/question.ts'
import fc from '../cases.ts'
import { stripTerminalSequences, visibleWidth } from '@earendil-works/pi-tui'
import type { AgentRow, Block } from '../../src/chat/transcript/block.ts'
import type { Theme } from '../../src/chat/style/theme.ts'
import type { RenderContext } from '../../src/chat/transcript/markdown/render-context.ts'
import { dark, light, plain } from '../../src/chat/style/theme.ts'
import { inputSummary } from '../../src/chat/transcript/call-input.ts'
import { LazyDetails } from '../../src/chat/transcript/markdown/render-context.ts'
import { Prose } from '../../src/chat/transcript/markdown/markdown.ts'
import { split } from '../../src/chat/transcript/markdown/markdown-parts.ts'
import { BlockRenderer } from '../../src/chat/transcript/blocks/block-renderer.ts'
import { safeText } from '../../src/chat/style/safe-text.ts'
import { GrowingLines } from '../../src/chat/style/screen-text.ts'
import { PlacedBlock } from '../../src/chat/transcript/blocks/transcript-layout.ts'
import { Transcript } from '../../src/chat/transcript/blocks/transcript-view.ts'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const never = () => {}
const look = (theme = plain): RenderContext => ({
  theme,
  lazy: new LazyDetails(never, never),
  links: true,
  now: () => 0,
})

/** Everything that agents have been seen to print, and worse. */
const pieces = [
  ...[
    'word',
    ' ',
    '\n',
    '\n\n',
    '# ',
    '- ',
    '1. ',
    '> ',
    '```',
    '```ts\n',
    '\n```\n',
    '~~~',
    '|a|b|\n|-|-|\n|c|d|',
    '**',
    '`',
    '_',
  ],
  ...[
    '[text](https://example.com/a)',
    '[x](javascript:alert(1))',
    'https://example.com',
    '<b>',
    '&amp;',
    '\\',
    '$x$',
    '    code',
  ],
  ...[
    '\x1b[31m',
    '\x1b[2J',
    '\x1b]0;title\x07',
    '\x1b]52;c;AAAA\x07',
    '\x1b]8;;https://evil\x07',
    '\x1b[10A',
    '\x1bP',
    '\x9b5A',
    '\x00',
    '\x07',
    '\b',
    '\r',
    '\t',
    '\x7f',
    '\u0085',
  ],
  ...['\u202e', '\u2066', '\u2069', '\u200f', '\u2028', '\ufeff', '\u00ad', '\ud800', '\udc00'],
  ...['你好', '👨‍👩‍👧‍👦', '🇩🇪', 'e\u0301', 'עברית', 'العربية', 'ไทยกำ', '\u0300\u0301', 'ｆｕｌｌ', 'x'.repeat(300)],
]
const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join(''))

function blocksOf(text: string): Block[] {
  const common = { key: 1, turn: 't', by: text.slice(0, 30) }
  const failure = { kind: 'quota', message: text, retryAt: 0 } as const
  const question = { about: 'choice' as const, text, from: [text], options: [{ id: 'a', label: text }] }
  const call = { ...common, type: 'call', call: 'c', tool: text, since: 0, ms: 5, output: text } as const
  const changes = [{ path: text, after: text }]
  return [
    { ...common, type: 'prompt', text },
    { ...common, type: 'steer', text },
    { ...common, type: 'note', text },
    { ...common, type: 'summary', title: text, text },
    { ...common, type: 'reply', text, live: true, more: 7 },
    { ...common, type: 'thought', text, live: false },
    { ...call, input: { command: text, other: [text] }, state: 'failed', changes: [] },
    { ...call, input: text, state: 'ok', changes },
    { ...common, type: 'attempt', failure, ms: 1, said: text, next: text },
    { ...common, type: 'error', failure, said: text },
    { ...common, type: 'question', ask: 'q', question, state: 'answered', picks: ['a', text] },
    { ...common, type: 'plan', items: [{ task: text, status: 'in_progress' }] },
    { ...common, type: 'closing', closing: { turn: 't', by: text, why: text, ms: 1, tokens: 5 } },
    { ...common, type: 'told', text, how: 'text' },
    { ...common, type: 'told', text, how: 'note' },
    { ...common, type: 'waits', agent: text, until: 5 },
  ]
}

test('property: whatever an agent prints, no line is wider than the screen or holds a foreign sequence', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 20, max: 200 }), fc.boolean(), (text, width, open) => {
      const blocks = blocksOf(text)
      const row = { role: text, by: text, since: 0 }
      const rows: AgentRow[] = [
        { ...row, key: 3, state: 'working', blocks },
        { ...row, key: 4, state: 'done', ms: 5, blocks: blocks.slice(0, 5) },
        ...Array.from({ length: 8 }, (_, at): AgentRow => ({ ...row, key: 5 + at, state: 'waiting', blocks: [] })),
      ]
      const boards: Block[] = [rows, rows.slice(0, 2)].map((some) => ({ key: 2, turn: 't', type: 'board', rows: some }))
      for (const block of [...blocks, ...boards]) {
        for (const line of new BlockRenderer().lines(block, undefined, width, look(dark), open)) {
          assert.ok(visibleWidth(line) <= width, `${block.type}: ${JSON.stringify(line)} in ${width}`)
          const bare = line.replaceAll(
            /\x1b\[[\d;]*m|\x1b\]8;;(?:(?:https?|file):\/\/[!-~]*)?\x1b\\|^\x1b\]133;A\x07/g,
            '',
          )
          assert.doesNotMatch(bare, /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/, block.type)
        }
      }
    }),
    { numRuns: 100 },
  )
})

const markdown = fc
  .array(
    fc.constantFrom(
      'word ',
      '\n',
      '\n\n',
      '- item\n',
      '1. one\n',
      '  more\n',
      '```ts\n',
      'let a = 1\n',
      '```\n',
      '> q\n',
      '# h\n',
      '~~~\n',
      '`c` ',
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''))

test('the parts of a text are the whole of it, and all but the last stay as they are when it grows', () => {
  fc.assert(
    fc.property(markdown, fc.nat(), (text, cut) => {
      const parts = split(text)
      assert.equal(
        parts.reduce((sum, { length }) => sum + length, 0),
        text.length,
      )
      const before = split(text.slice(0, cut % (text.length + 1))).slice(0, -1)
      assert.deepEqual(
        parts.slice(0, before.length).map(({ text: body, fence }) => ({ body, fence })),
        before.map(({ text: body, fence }) => ({ body, fence })),
      )
    }),
  )
})

test('a text that streams in looks in the end as if it had come at once', () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }), (text, steps) => {
      const streamed = new Prose()
      for (let at = 0, step = 0; at < text.length; at += steps[step++ % steps.length]!)
        streamed.render(text.slice(0, at), 40, look())
      assert.deepEqual(streamed.render(text, 40, look()), new Prose().render(text, 40, look()))
    }),
  )
})

test('a block that grows looks at any width and in any theme as if it had come at once', () => {
  const widths = fc.array(fc.constantFrom(30, 30, 30, 80), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(fc.oneof(markdown, hostile), widths, fc.integer({ min: 1, max: 9 }), (text, columns, step) => {
      const reply = (words: string, live: boolean): Block => ({ key: 1, turn: 't', type: 'reply', text: words, live })
      const linesOf = (placed: PlacedBlock, width: number, theme: Theme) => {
        placed.refresh(width, look(theme), false)
        return placed.lines
      }
      const whole = (block: Block, width: number, theme: Theme) => linesOf(new PlacedBlock(block), width, theme)
      const grown = new PlacedBlock(reply('', true))
      for (let at = 0, turn = 0; at <= text.length; at += step, turn++) {
        grown.block = reply(text.slice(0, at), true)
        const width = columns[turn % columns.length]!
        assert.deepEqual(linesOf(grown, width, dark), whole(grown.block, width, dark))
      }
      grown.forget()
      assert.deepEqual(linesOf(grown, 30, light), whole(grown.block, 30, light))
      grown.block = reply(text, false)
      assert.deepEqual(linesOf(grown, 30, light), whole(grown.block, 30, light))
    }),
    { numRuns: 50 },
  )
})

test('one more word of a long answer changes its last lines and no others, until they are forgotten', () => {
  let changed = 0
  const growing = new GrowingLines()
  const lines = Array.from({ length: 1000 }, (_, at) => `line ${at}`)
  const madeFor = (all: readonly string[], width: number) => {
    changed = 0
    const made = growing.map(all, width, (line) => (changed++, `> ${line}`))
    assert.deepEqual(
      made,
      all.map((line) => `> ${line}`),
    )
    return changed
  }
  assert.deepEqual(
    [madeFor([...lines, 'The last'], 80), madeFor([...lines, 'The last words'], 80), madeFor(lines, 79)],
    [1001, 1, 1000],
  )
  growing.forget()
  assert.equal(madeFor(lines, 79), 1000)
})

test('text that the parser cannot take is shown as text', () => {
  for (const text of ['> '.repeat(3000), '_a '.repeat(30_000), '['.repeat(9000)]) {
    const lines = new Prose().render(text, 80, look())
    assert.equal(lines.join('').replaceAll(/\s/g, ''), text.replaceAll(/\s/g, ''))
  }
})

test('an endless line is rendered in pieces, and none of it is lost', () => {
  const words = Array.from({ length: 3000 }, (_, at) => `word${at}`).join(' ')
  for (const text of [words, '👍'.repeat(5000), `\`\`\`\n${'x'.repeat(9000)}\n\`\`\`\n`]) {
    const parts = split(text)
    assert.ok(parts.length > 2 && parts.every((part) => part.text.length <= 4001))
    const shown = new Prose().render(text, 80, look()).join(' ').replaceAll(/\s+/g, ' ').trim()
    assert.equal(shown.replaceAll(' ', ''), text.replaceAll(/[\s`]/g, ''))
  }
})

test('Markdown as it is shown', () => {
  const text = [
    '# Title',
    'Some **bold** and `code`, and [a link](https://example.com/x).',
    '',
    '1. one',
    '2. two',
    '',
    '```ts',
    'const a = 1',
    '```',
    'After.',
  ].join('\n')
  const shown = new Prose().render(text, 60, { ...look(), links: false })
  assert.deepEqual(
    shown.map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, '')),
    [
      'Title',
      '',
      'Some bold and code, and a link (https://example.com/x).',
      '',
      '1. one',
      '2. two',
      '',
      '  ts',
      '  const a = 1',
      '',
      'After.',
    ],
  )
})

test('command output is shown as Markdown, and a row of its tables stays one row', () => {
  const text = [
    'The **leash**:',
    '',
    '- alpha: reads',
    '',
    '```text',
    'AGENT  STATE  MAY DO',
    'alpha  ready  its own flags, as they were written',
    'and a sentence that is longer than the screen',
    '```',
  ].join('\n')
  const shown = (block: Partial<Block>) =>
    new BlockRenderer()
      .lines({ key: 1, turn: '', text, ...block } as Block, undefined, 32, look(), false)
      .map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, ''))
  assert.deepEqual(shown({ type: 'told', how: 'text' }), [
    '  The leash:',
    '',
    '  - alpha: reads',
    '',
    '    AGENT  STATE  MAY DO',
    '    alpha  ready  its own flags…',
    '    and a sentence that is',
    '    longer than the screen',
  ])
  assert.equal(shown({ type: 'told', how: 'note' })[0], '  The **leash**:')
  assert.deepEqual(
    shown({ type: 'reply', live: false }).slice(5, 8),
    ['    alpha  ready  its own flags,', '    as they were written', '    and a sentence that is'],
    'nothing of an answer is cut',
  )
})

test('a number keeps its unit, and a wait says until when', (t) => {
  const shown = (block: Partial<Block>, width: number, context = look()) =>
    new BlockRenderer()
      .lines({ key: 1, turn: '', ...block } as Block, undefined, width, context, false)
      .map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, ''))
  const closing = { turn: 't', by: 'alpha', why: 'it was next', ms: 1200, tokens: 2600, source: 'parsed' as const }
  assert.deepEqual(shown({ type: 'closing', closing }, 30), ['─ alpha · it was next · 1.2 s', '  ~2.6k tokens'])
  assert.deepEqual(shown({ type: 'closing', closing }, 26), ['─ alpha · it was next', '  1.2 s · ~2.6k tokens'])
  const failure = { kind: 'crash', message: 'it broke in the middle' } as const
  assert.deepEqual(shown({ type: 'attempt', by: 'alpha', failure, ms: 1200, said: '', next: 'beta' }, 40), [
    '↷ alpha failed: it broke in the middle',
    '  1.2 s → beta',
  ])
  const until = new Date(2026, 10, 15, 8, 5).getTime()
  golden(t, shown({ type: 'waits', agent: 'alpha', until }, 80))
  // The card and the status line name a time of today without its date, and so does the transcript.
  const spent = { kind: 'quota', message: 'daily limit.', retryAt: until } as const
  const today = { ...look(), now: () => until - 60_000 }
  assert.deepEqual(shown({ type: 'attempt', by: 'alpha', failure: spent, ms: 1200, said: '' }, 80, today), [
    '↷ alpha is out of quota: daily limit, until 08:05 · 1.2 s',
  ])
})

test('the rest of an indented line of a message stands below its beginning', () => {
  const told =
    'Found on this machine:\n\n  Claude Code · log in with: claude auth login\n    asks before it acts, and waits'
  const block: Block = { type: 'told', key: 0, turn: '', how: 'note', text: told }
  const lines = new BlockRenderer().lines(block, undefined, 30, look(), false)
  assert.deepEqual(lines.map(stripTerminalSequences), [
    '  Found on this machine:',
    '',
    '    Claude Code · log in with:',
    '    claude auth login',
    '      asks before it acts, and',
    '      waits',
  ])
})

test('a question of an agent is one line among its work', () => {
  const common = { key: 1, turn: 't', by: 'claude' }
  const question = {
    about: 'permission' as const,
    text: 'Bash: makes a file\nIt reaches /tmp/a',
    from: [],
    options: [{ id: 'y', label: 'Yes' }],
  }
  const asked: Block = { ...common, type: 'question', ask: 'q', question, state: 'answered', picks: ['y'] }
  const call: Block = {
    ...common,
    type: 'call',
    call: 'c',
    tool: 'Bash',
    input: 'touch a',
    state: 'ok',
    since: 0,
    output: '',
    changes: [],
  }
  const reply: Block = { ...common, type: 'reply', text: 'Done.', live: false }
  const spent: Block = { ...asked, question: { ...question, about: 'quota', text: 'It is spent.' } }
  const lines = (...blocks: Block[]) =>
    blocks
      .flatMap((block, at) => new BlockRenderer().lines(block, blocks[at - 1], 60, look(), false))
      .map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, ''))
  assert.deepEqual(lines(call, asked, reply), [
    '● claude',
    '  ✓ Bash touch a',
    '  ? Bash: makes a file → Yes',
    '',
    '  Done.',
  ])
  assert.deepEqual(lines(call, spent), ['● claude', '  ✓ Bash touch a', '', '? claude: It is spent. → Yes'])
  const named: Block = { ...asked, question: { ...question, about: 'quota', text: 'claude has spent it.' } }
  assert.deepEqual(lines(named), ['? claude has spent it. → Yes'])
})

test('a call is summarised by its most telling field', () => {
  const inputs = [
    { description: 'runs them', command: 'npm test' },
    { command: ['git', 'status'] },
    { questions: [{ header: 'Colour', question: 'Which colour?' }] },
    { todos: [{ content: 'Do it', status: 'pending' }] },
    { input: '*** Begin Patch\n*** Update File: a.ts\n@@\n-1\n+2\n*** Delete File: b.ts\n*** End Patch' },
    { offset: 10, limit: 20 },
    {},
    'ls\n-l',
    undefined,
  ]
  assert.deepEqual(
    inputs.map((input) => inputSummary(input)),
    ['npm test', 'git status', 'Which colour?', 'Do it', 'a.ts, b.ts', '{"offset":10,"limit":20}', '', 'ls -l', ''],
  )
})

test('the path of a file in the folder that the agents work in is shown relative to it', () => {
  const shorten = (path: string) => shortPath(path, '/work/app')
  const inputs = [
    { file_path: '/work/app/src/a.ts', content: '/work/app/b.ts' },
    { path: '/work/app2/a.ts' },
    { command: 'cat /work/app/src/a.ts' },
    { input: '*** Begin Patch\n*** Update File: /work/app/a.ts\n@@\n-1\n+2\n*** End Patch' },
  ]
  assert.deepEqual(
    inputs.map((input) => inputSummary(input, shorten)),
    ['src/a.ts', '/work/app2/a.ts', 'cat /work/app/src/a.ts', 'a.ts'],
  )
  const call: Block = {
    ...{ type: 'call', key: 1, turn: 't', call: 'c', by: 'claude', tool: 'Read', input: inputs[0] },
    ...{ state: 'ok', since: 0, output: '', changes: [] },
  }
  const shown = new BlockRenderer().lines(call, undefined, 60, { ...look(), shorten }, false)
  assert.deepEqual(
    shown.map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, '')),
    ['● claude', '  ✓ Read src/a.ts'],
  )
})

test('only an address that is shown can be clicked', () => {
  const links = (text: string) =>
    [
      ...new Prose()
        .render(text, 200, look())
        .join('\n')
        .matchAll(/\x1b\]8;;([^\x1b]+)/g),
    ].map((match) => match[1])
  assert.deepEqual(links('[safe](https://example.com/evil)'), ['https://example.com/evil'])
  assert.deepEqual(links('https://example.com/a'), ['https://example.com/a'])
  assert.deepEqual(links('[x](javascript:alert(1)) [y](ssh://host/)'), [])
})

test('code is plain until the colours are loaded', async () => {
  const text = '```ts\nconst a = "b" // c\n```\n'
  const came = Promise.withResolvers<string>()
  const colourful: RenderContext = {
    theme: dark,
    lazy: new LazyDetails(came.resolve, never),
    links: false,
    now: () => 0,
  }
  const prose = new Prose()
  assert.equal(prose.render(text, 60, colourful)[1], '  const a = "b" // c')
  assert.equal(await came.promise, 'colours')
  prose.forget()
  assert.equal(
    prose.render(text, 60, colourful)[1],
    '  \x1b[1mconst\x1b[22m a = \x1b[94m"b"\x1b[39m \x1b[2m// c\x1b[22m',
  )
})

test('a finished edit shows what changed, with numbers and in colours', async () => {
  const came = Promise.withResolvers<string>()
  const colourful: RenderContext = {
    theme: dark,
    lazy: new LazyDetails(came.resolve, (work) => setImmediate(work)),
    links: false,
    now: () => 0,
  }
  const block: Block = {
    key: 1,
    turn: 't',
    type: 'call',
    call: 'c',
    tool: 'Edit',
    input: { path: 'a.ts' },
    state: 'ok',
    since: 0,
    ms: 1200,
    output: '',
    changes: [{ path: 'a.txt', before: 'one\ntwo\n', after: 'one\nzwei\n', starts: wholeFile }],
  }
  const rendered = new BlockRenderer()
  assert.deepEqual(rendered.lines(block, undefined, 40, colourful, false), [
    '  \x1b[32m✓\x1b[39m Edit\x1b[2m a.ts\x1b[22m\x1b[2m · 1.2 s\x1b[22m',
  ])
  assert.equal(await came.promise, 'diffs')
  const diff = [
    '    \x1b[2m1   \x1b[22mone',
    '    \x1b[31m2 - \x1b[39m\x1b[31mtwo\x1b[39m',
    '    \x1b[32m2 + \x1b[39m\x1b[32mzwei\x1b[39m',
  ]
  const head = '  \x1b[32m✓\x1b[39m Edit\x1b[2m a.ts\x1b[22m\x1b[2m · +1 −1 · 1.2 s\x1b[22m'
  assert.deepEqual(rendered.lines(block, undefined, 40, colourful, false), [head, ...diff])
  assert.deepEqual(rendered.lines(block, undefined, 40, { ...colourful, brief: true }, false), [head])
  assert.deepEqual(rendered.lines(block, undefined, 40, colourful, true), [
    '  \x1b[32m✓\x1b[39m Edit\x1b[2m a.ts\x1b[22m\x1b[2m · +1 −1 · 1.2 s\x1b[22m',
    '    \x1b[1ma.txt\x1b[22m',
    ...diff,
  ])
})

test('an edit after which a language server reported errors says how many', () => {
  const plain: RenderContext = {
    theme: dark,
    lazy: new LazyDetails(
      () => {},
      () => {},
    ),
    links: false,
    now: () => 0,
  }
  const call: Block = {
    ...{ key: 1, turn: 't', type: 'call', call: 'c', tool: 'file_creator', input: { file_path: 'a.ts' } },
    ...{ state: 'running', since: 0, output: '', changes: [] },
  }
  const done = withResult(call, { ok: true, text: 'Wrote a.ts.', data: { changes: [], errors: 2 } }, 1200)
  assert.deepEqual(new BlockRenderer().lines(done, undefined, 60, plain, false), [
    '  \x1b[32m✓\x1b[39m writes\x1b[2m a.ts\x1b[22m\x1b[2m · 2 errors · 1.2 s\x1b[22m',
  ])
})

test('direction marks are shown or removed, tabs are spaces, and sequences are removed', () => {
  assert.equal(safeText('a\u202eb\tc\x1b[31md\u200fe\ud800'), 'a⟨U+202E⟩b    cde\ufffd')
})

function transcript(height: number) {
  const works: (() => void)[] = []
  const scroll = {
    scrollTop: 0,
    isFollowingEnd: true,
    viewportHeight: height,
    updateLayout: never,
    scrollTo: (top: number) => void (scroll.scrollTop = top),
  }
  const shown = new Transcript({
    context: look(),
    welcome: () => ['nothing yet'],
    height: () => height,
    repaint: never,
    later: (work) => works.push(work),
    nearTop: never,
  })
  shown.scrolledBy(scroll)
  return { shown, scroll, works }
}

const said = (key: number, text: string): Block => ({ key, turn: `t${key}`, type: 'note', text })

test('only blocks in sight are rendered at once; the others follow and the place is kept', () => {
  const { shown, scroll, works } = transcript(10)
  shown.show([], [], 'welcome')
  assert.deepEqual(shown.render(40), ['nothing yet'])
  const blocks = Array.from({ length: 2000 }, (_, at) => said(at, `line ${at} ${'and more words '.repeat(at % 7)}`))
  shown.show(blocks, [], undefined)
  const first = shown.render(40)
  assert.ok(
    first.includes('· line 1999 and more words and more words'.slice(0, 40).trimEnd()) ||
      first.join('\n').includes('line 1999'),
  )
  assert.ok(!first.join('\n').includes('line 0 '), 'what is far up waits')
  scroll.isFollowingEnd = false
  scroll.scrollTop = first.findIndex((line) => line.includes('line 1990'))
  while (works.length > 0) {
    works.shift()!()
    const lines = shown.render(40)
    assert.ok(lines[scroll.scrollTop]!.includes('line 1990'))
  }
  assert.ok(shown.render(40).join('\n').includes('line 0'))
  shown.render(25)
  assert.ok(shown.render(25)[scroll.scrollTop]!.includes('line 1990'))
  shown.show([...Array.from({ length: 50 }, (_, at) => said(5000 + at, 'earlier')), ...blocks], [], undefined)
  assert.ok(shown.render(25)[scroll.scrollTop]!.includes('line 1990'))
})

test('new blocks below are counted from where the end was last in sight', () => {
  const { shown, scroll } = transcript(10)
  const done = [said(1, 'a'), said(2, 'b')]
  shown.show(done, [], undefined)
  shown.render(40)
  scroll.isFollowingEnd = false
  shown.show(done, [said(3, 'c'), said(4, 'd')], undefined)
  shown.render(40)
  assert.equal(shown.unseen, 2)
  shown.show([said(9, 'loaded above'), said(1, 'a')], [said(3, 'c'), said(4, 'd')], undefined)
  shown.render(40)
  assert.equal(shown.unseen, 2, 'also when the last one that was seen is gone')
})

const sizes = [
  '| Name | Size | 名前 | Notes |',
  '|:--|--:|:-:|---|',
  '| `a\\|b` | 1200 | 你 | two words |',
  '| - x | 7 | 你好 | **bold** and a sentence that is wrapped |',
].join('\n')

const tableAt = (text: string, width: number) =>
  new Prose().render(text, width, look()).map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, ''))

test('a table aligns its columns as it says, also with wide characters and code, and is a list where it is too wide', () => {
  assert.deepEqual(tableAt(`Sizes:\n${sizes}`, 50), [
    'Sizes:',
    '',
    '┌──────┬──────┬──────┬───────────────────────────┐',
    '│ Name │ Size │ 名前 │ Notes                     │',
    '├──────┼──────┼──────┼───────────────────────────┤',
    '│ a|b  │ 1200 │  你  │ two words                 │',
    '├──────┼──────┼──────┼───────────────────────────┤',
    '│ - x  │    7 │ 你好 │ bold and a sentence that  │',
    '│      │      │      │ is wrapped                │',
    '└──────┴──────┴──────┴───────────────────────────┘',
  ])
  assert.deepEqual(tableAt(sizes, 14), [
    'Name: a|b',
    'Size: 1200',
    '名前: 你',
    'Notes: two',
    '  words',
    '',
    'Name: - x',
    'Size: 7',
    '名前: 你好',
    'Notes: bold',
    '  and a',
    '  sentence',
    '  that is',
    '  wrapped',
  ])
})

test('tables in lists and quotes align their columns too, and what follows them keeps its place', () => {
  const inList = [
    '1. Sizes:',
    '',
    '   | n | size |',
    '   |---|-----:|',
    '   | a | 1200 |',
    '   | b | 7 |',
    '',
    '   Go on.',
    '2. more',
  ]
  assert.deepEqual(tableAt(inList.join('\n'), 40), [
    '1. Sizes:',
    '',
    '   ┌───┬──────┐',
    '   │ n │ size │',
    '   ├───┼──────┤',
    '   │ a │ 1200 │',
    '   ├───┼──────┤',
    '   │ b │    7 │',
    '   └───┴──────┘',
    '',
    '   Go on.',
    '',
    '2. more',
  ])
  const inQuote = [
    '> As it says:',
    '>',
    '> - so',
    '>   | n | size |',
    '>   |---|-----:|',
    '>   | a | 7 |',
    '',
    'After it.',
  ]
  assert.deepEqual(tableAt(inQuote.join('\n'), 40), [
    '│ As it says:',
    '│ ',
    '│ - so',
    '│ ',
    '│   ┌───┬──────┐',
    '│   │ n │ size │',
    '│   ├───┼──────┤',
    '│   │ a │    7 │',
    '│   └───┴──────┘',
    '',
    'After it.',
  ])
})

test('rows of a table keep their places while a long cell is written below them', () => {
  const prose = new Prose()
  const seen = new Set<string>()
  const start = `${sizes}\n| y | 8 | 你 | `
  const cell = 'some more words that go on for a while and do not end soon'
  for (let at = 0; at <= cell.length; at++)
    seen.add(
      prose
        .render(start + cell.slice(0, at), 50, look())
        .slice(0, 8)
        .join('\n'),
    )
  assert.equal(seen.size, 1)
})

test('a table that is longer than one part repeats its head and shows no row as text', () => {
  const rows = Array.from({ length: 300 }, (_, at) => `| row ${at} | ${'word '.repeat(6)}|`)
  const lines = tableAt(['| Row | Words |', '|-|-:|', ...rows].join('\n'), 60)
  assert.ok(lines.every((line) => /^[┌│├└]/.test(line)))
  assert.equal(lines.filter((line) => line.startsWith('│ row ')).length, 300)
  assert.equal(
    lines.filter((line) => line.startsWith('│ Row ')).length,
    lines.filter((line) => line.startsWith('┌')).length,
  )
  assert.ok(lines.filter((line) => line.startsWith('┌')).length > 1)
})

test('agents inside a turn that fail alike tell their failure once, and a handoff is text', (t) => {
  const fails = (key: number, role: string, message: string): AgentRow => ({
    ...{ key, role, by: 'codex', since: 0, ms: 1_000, state: 'failed' },
    blocks: [{ key: 90 + key, turn: 't', type: 'error', failure: { kind: 'auth', message }, said: '' }],
  })
  const rows = [fails(3, 'enumerator', 'no key here'), fails(4, 'critic', 'no key here'), fails(5, 'chair', 'too slow')]
  const handoff = JSON.stringify({ what_was_done: 'Read it.', evidence: ['a.ts:1'], status: 'completed' })
  const blocks: Block[] = [
    { key: 1, turn: 't', type: 'board', rows },
    { key: 2, turn: 't', type: 'reply', by: 'codex', text: handoff, live: false },
  ]
  golden(
    t,
    blocks.map((block) => new BlockRenderer().lines(block, undefined, 70, look(), false).map(stripAnsi)),
  )
})
