import type { WatchedSlot, WatchView } from '../../src/crew/watch/watch-frame.ts'
import headless from '@xterm/headless'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { dark, light, plain, ThemeSwitch } from '../../src/chat/style/theme.ts'
import { layoutOf, watchFrame } from '../../src/crew/watch/watch-frame.ts'
import { keysIn } from '../../src/crew/watch/watch-screen.ts'
import { visibleWidth } from '@earendil-works/pi-tui'
import { frameOf } from './frame.ts'
import { golden } from './golden.ts'

const now = 1_000_000
const rows = (name: string) =>
  Array.from(
    { length: 60 },
    (_, n) => `${name} wrote line ${n + 1}, which is long enough to be cut in a narrow tile 漢字`,
  )

const states: Omit<WatchedSlot, 'id'>[] = [
  {
    agent: 'claude',
    state: 'busy',
    since: now - 75_000,
    prompt: 'Fix the flaky test in test/store',
    rows: rows('claude'),
  },
  {
    agent: 'gemini',
    state: 'asking',
    since: now - 3_000,
    prompt: 'Clean up the build folder',
    note: 'asks (a: answer it): Run this command? · $ npm ci && rm -rf ~/build',
    dangers: ['rm -rf ~/build (~/build is outside the project)'],
    rows: ['Shell command', '$ rm -rf build', '1 Yes', '2 No'],
  },
  { agent: 'codex', state: 'idle', since: now - 4_000_000, prompt: 'Say hello', rows: ['hello', '>'] },
  {
    agent: 'claude',
    state: 'held',
    since: now - 9_000,
    prompt: 'Sum up both',
    note: 'waiting for slot 1, 3',
    rows: [],
  },
  {
    agent: 'qwen',
    state: 'failed',
    since: now - 20_000,
    prompt: 'Try it',
    note: 'it exited with 1',
    rows: ['no licence'],
  },
  { agent: 'gemini', state: 'starting', since: now - 500, prompt: '', rows: [] },
  { agent: 'codex', state: 'exited', since: now - 60_000, prompt: 'Done', note: 'killed', rows: ['bye'] },
]

function viewOf(count: number, more: Partial<WatchView> = {}): WatchView {
  const slots = Array.from({ length: count }, (_, n) => ({ id: n + 1, ...states[n % states.length]! }))
  return { workspace: '/home/anna/shop', slots, selected: 2, zoomed: false, ...more }
}

const themes = { dark, light, plain }
const sizes = [
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 200, rows: 50 },
]

for (const [look, theme] of Object.entries(themes))
  for (const size of sizes)
    test(`the crew at ${size.columns}x${size.rows}, ${look}`, async () => {
      const shown = new ThemeSwitch(theme)
      shown.setAgents(['claude', 'gemini', 'codex', 'qwen'])
      const views = {
        one: viewOf(1, { selected: 1 }),
        four: viewOf(4),
        twelve: viewOf(12, { selected: 12 }),
        zoomed: viewOf(4, { zoomed: true }),
        trouble: viewOf(3, {
          trouble: 'The process that runs slot 1 has stopped, so the screen may be out of date. Starting it again.',
        }),
      }
      for (const [name, view] of Object.entries(views)) {
        const lines = watchFrame(view, size, shown, now)
        assert.deepEqual(
          lines.map((line) => visibleWidth(line)),
          Array.from({ length: size.rows }, () => size.columns),
          name,
        )
        const emulator = new headless.Terminal({ cols: size.columns, rows: size.rows, allowProposedApi: true })
        const drawn = lines.map((line, at) => `\u001b[${at + 1};1H${line}\u001b[0m`).join('')
        await new Promise<void>((resolve) => emulator.write(drawn, resolve))
        golden(`watch-${name}-${size.columns}x${size.rows}`, look, frameOf(emulator))
      }
    })

test('every size from tiny to huge is filled exactly, and the selected tile is in sight', () => {
  for (const columns of [1, 20, 39, 40, 77, 80, 133, 200, 300])
    for (const rows of [3, 5, 8, 24, 50])
      for (let count = 0; count <= 12; count++)
        for (const selected of count === 0 ? [undefined] : [1, count]) {
          const view = viewOf(count, { selected })
          const lines = watchFrame(view, { columns, rows }, plain, now)
          assert.equal(lines.length, rows, `${columns}x${rows}, ${count}`)
          if (columns < 40) continue
          for (const line of lines) assert.equal(visibleWidth(line), columns, `${columns}x${rows}, ${count}: ${line}`)
          const { height } = layoutOf(view, { columns, rows: rows - 2 })
          if (selected !== undefined && height >= 5)
            assert.match(lines.join('\n'), new RegExp(`\u001b\\[7m ${selected} `), `${columns}x${rows}, ${count}`)
        }
})

test('keys are told apart, in whatever encoding they come', () => {
  assert.deepEqual(keysIn('\u001b[A\u001bOBhq\u001b\r'), ['Up', 'Down', 'Left', 'q', 'Escape', 'Enter'])
  assert.deepEqual(keysIn('\u001b[5~\u001b[<0;1;1M3'), ['3'])
})
