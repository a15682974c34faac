import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import { visibleWidth } from '@earendil-works/pi-tui'
import type { Standing } from '../../src/chat/desk/chat-desk.ts'
import type { AgentRow } from '../../src/chat/transcript/block.ts'
import { emptyState, nextState } from '../../src/chat/state/chat-state.ts'
import type { RunningTurn } from '../../src/chat/state/running-turn.ts'
import { HandClock } from '../hand-clock.ts'
import { cost, duration, elapsed, tokens } from '../../src/chat/style/numbers.ts'
import { rule } from '../../src/chat/style/widgets.ts'
import { StatusLine } from '../../src/chat/screen/status-line.ts'
import { welcome } from '../../src/chat/screen/welcome.ts'
import { WorkingLine } from '../../src/chat/screen/working-line.ts'
import { dark, plain } from '../../src/chat/style/theme.ts'

const clock = new HandClock()
const now = clock.now()
const bare = (line: string | undefined) => line?.replaceAll(/\x1b\[[\d;]*m/g, '')

const standing: Standing = {
  project: 'demo',
  mode: 'chat',
  leash: 'ask',
  strategy: 'round-robin',
  agents: [
    { name: 'claude', state: 'ready', left: 0.424 },
    { name: 'gemini', state: 'parked', until: new Date(now).setHours(23, 59, 0, 0) },
    { name: 'codex', state: 'out', why: 'not logged in' },
  ],
  next: 'claude',
  tokens: { used: 45_678, cost: 0.3456, source: 'estimated' },
}

test('the status line shows everything where there is room, and otherwise the most important parts', () => {
  const line = (width: number, how: Partial<Standing> = {}) =>
    bare(new StatusLine(plain, clock, () => ({ ...standing, ...how })).render(width)[0])
  assert.equal(
    line(150),
    ' chat · leash ask · claude ● 42% context free · gemini ○ out of quota until 23:59 · codex ✗ unavailable · next claude · ~45.7k tokens · ~$0.35',
  )
  assert.equal(line(80), ' chat · ask · claude ● · gemini ○ · codex ✗ · → claude · ~45.7k tokens · ~$0.35')
  assert.equal(line(50), ' ask · claude ● · gemini ○ · codex ✗ · → claude')
  assert.equal(line(20), ' ask · claude ●')
  assert.equal(
    line(170, { thinking: 'auto' }),
    ' chat · leash ask · claude ● 42% context free · gemini ○ out of quota until 23:59 · codex ✗ unavailable · next claude · think auto · ~45.7k tokens · ~$0.35',
  )
  assert.equal(line(50, { ownFlags: true }), ' flags · claude ● · gemini ○ · codex ✗ · → claude')
  assert.equal(line(160, { thinking: 'off' }), line(160))
  assert.equal(line(130, { thinking: 'consensus' }), line(130), 'it is the first to go')
  assert.equal(
    line(80, { stays: true }),
    ' chat · ask · claude ● · gemini ○ · codex ✗ · ⇒ claude · ~45.7k tokens · ~$0.35',
  )
  const used = { workers: 4, steps: 31, tokens: 1_240_000, ms: 700_000 }
  const budget = { used, allowed: { workers: 20, steps: 500, tokens: 10_000_000, ms: 7_200_000 } }
  assert.equal(
    line(160, { budget }),
    ' chat · leash ask · claude ● 42% context free · gemini ○ · codex ✗ unavailable · next claude · 4/20 workers, 31/500 steps, 1.2M/10.0M tokens, 11/120 min',
  )
  assert.equal(line(80, { budget }), ' chat · leash ask · claude ● · gemini ○ · codex ✗ · next claude · 4/20 workers')
  assert.equal(
    line(100, { budget }),
    ' chat · leash ask · claude ● · gemini ○ · codex ✗ · next claude · 4/20 workers, 1.2M/10.0M tokens',
  )
  assert.equal(line(40, { budget }), ' leash ask · claude ● · 4/20 workers')
  const long = [...standing.agents, { name: 'an-agent-with-a-long-name', state: 'ready' as const }]
  assert.equal(
    line(96, { ownFlags: true, agents: long }),
    ' chat · own flags · claude ● · gemini ○ · codex ✗ · an-agent-with-a-long-name ● · next claude',
    'what is dropped leaves its room to the shortened words',
  )
  const progress = 'loop: sleeps 1 of 20'
  assert.equal(line(80, { progress }), ' chat · leash ask · loop 1 of 20 · claude ● · gemini ○ · codex ✗ · next claude')
  const waiting = { agent: 'gemini', until: new Date(now).setHours(23, 59, 0, 0) }
  assert.equal(line(40, { waiting }), ' ask · waits until 23:59 · claude ●')
})

const rowsOf = (...agents: (string | undefined)[]): AgentRow[] =>
  agents.map((by, key) => ({ key, role: `role ${key}`, by, state: 'working', since: 0, blocks: [] }))

const anyRun = fc.record({
  turn: fc.constant('t'),
  since: fc.integer({ min: now - 10_000_000, max: now }),
  by: fc.constantFrom('claude', 'a very long name of an agent that nobody would choose', '你好'),
  calls: fc.array(fc.record({ call: fc.string(), tool: fc.string() }), { maxLength: 2 }),
  lastAt: fc.integer({ min: now - 100_000, max: now }),
  files: fc.array(fc.string(), { maxLength: 3 }),
  phase: fc.record({ framework: fc.constant('consensus' as const), words: fc.string({ maxLength: 100 }) }),
})

test('the lines around the transcript are never wider than the screen, and never two', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 60 }),
      anyRun,
      fc.string(),
      fc.nat(20),
      (width, height, run, name, below) => {
        const how = { ...standing, project: name, agents: [{ name, state: 'busy' as const }, ...standing.agents] }
        const lines = [
          new StatusLine(dark, clock, () => how).render(width),
          new WorkingLine(
            dark,
            clock,
            () => [run],
            () => false,
            { runsFor: () => below * 1000, key: () => 'Ctrl+B' },
            { rows: () => rowsOf(name, 'gemini', name), open: () => below > 10 },
          ).render(width),
          [rule(width, dark.accent, dark.strong(name))],
          [rule(width, dark.accent)],
        ]
        assert.deepEqual(
          lines.map(({ length }) => length),
          [1, 1, 1, 1],
        )
        for (const line of [...lines.flat(), ...welcome(how, dark, { width, height, below, spoken: below > 5 })])
          assert.ok(visibleWidth(line) <= width, JSON.stringify(line))
      },
    ),
  )
})

test('the working line shows what the newest slash command does, unless a card is open', () => {
  const run: RunningTurn = { turn: 't', since: now - 65_000, by: 'claude', calls: [], lastAt: now - 400, files: [] }
  const said = (of: string, words: string) => ({ type: 'progress' as const, of, words })
  const { progress } = [said('a', '/a: 1 of 2'), said('b', '/b'), said('b', '/b: 2 of 3')].reduce(
    (state, event) => nextState(state, event, now - 3000),
    emptyState,
  )
  const line = (asked: boolean) =>
    bare(
      new WorkingLine(
        plain,
        clock,
        () => [run],
        () => asked,
        { runsFor: () => undefined, key: () => 'Ctrl+B' },
        { rows: () => [], open: () => false },
        () => progress,
      ).render(90)[0],
    )?.replace(/[⠋⠙⠸⠴⠦⠇]/, '*')
  assert.equal(line(false), ' * /b: 2 of 3 · 3 s · Esc cancels')
  assert.equal(line(true), ' * claude · 1 min 05 s · waits for your answer · Ctrl+C cancels')
  const over = nextState({ ...emptyState, progress }, { type: 'progress', of: 'b' }, now)
  assert.deepEqual(over.progress, [{ of: 'a', words: '/a: 1 of 2', since: now - 3000 }])
})

test('the working line shows the running turn, and is empty when none runs', () => {
  const run: RunningTurn = { turn: 't', since: now - 65_000, by: 'claude', calls: [], lastAt: now - 400, files: [] }
  const line = (running: RunningTurn[], asked = false, ms?: number) =>
    bare(
      new WorkingLine(
        plain,
        clock,
        () => running,
        () => asked,
        { runsFor: () => ms, key: () => 'Ctrl+B' },
        { rows: () => [], open: () => false },
      ).render(90)[0],
    )?.replace(/[⠋⠙⠸⠴⠦⠇]/, '*')
  assert.equal(line([]), undefined)
  assert.equal(line([run]), ' * claude · 1 min 05 s · Esc cancels')
  assert.equal(line([{ ...run, stopping: true }]), ' * claude · 1 min 05 s · cancelling')
  assert.equal(
    line([{ ...run, calls: [{ call: 'c', tool: 'Bash' }], lastAt: now - 6400, files: ['a', 'b'] }]),
    ' * claude · 1 min 05 s · Bash · last event 6 s ago · 2 files changed · Esc cancels',
  )
  const bash = { ...run, calls: [{ call: 'c', tool: 'bash' }] }
  assert.equal(line([bash], false, 4_999), ' * claude · 1 min 05 s · bash · Esc cancels')
  assert.equal(line([bash], false, 5_000), ' * claude · 1 min 05 s · bash · Ctrl+B: to the background · Esc cancels')
  assert.equal(line([{ ...bash, stopping: true }], false, 5_000), ' * claude · 1 min 05 s · bash · cancelling')
  const asked = { ...run, by: undefined }
  const waiting = (ms: number) => ({ words: 'starting codex', since: now - ms })
  assert.equal(line([{ ...asked, waiting: waiting(299) }]), ' * starting · 1 min 05 s · Esc cancels')
  assert.equal(line([{ ...asked, waiting: waiting(300) }]), ' * starting codex · 1 min 05 s · Esc cancels')
  assert.equal(line([{ ...run, waiting: waiting(299) }]), ' * claude · 1 min 05 s · Esc cancels')
  assert.equal(
    line([{ ...run, waiting: { words: 'copying the changed files for undo', since: now - 300 } }]),
    ' * claude · copying the changed files for undo · 1 min 05 s · Esc cancels',
  )
  const retry = { words: 'Groq is busy (503)', since: now, until: now + 41_500 }
  assert.equal(
    line([{ ...run, lastAt: now - 9000, waiting: retry }]),
    ' * claude · Groq is busy (503). Trying again in 42 s · Esc cancels',
  )
  assert.equal(
    line([{ ...run, by: undefined, waiting: retry }]),
    ' * · Groq is busy (503). Trying again in 42 s · Esc cancels',
  )
  const long = { ...retry, words: `Anthropic is overloaded (529): ${'Overloaded '.repeat(20)}`, until: now - 1 }
  assert.equal(
    line([{ ...run, waiting: long }]),
    ' * claude · Anthropic is overloaded (529). Trying again now · Esc cancels',
  )
  assert.equal(
    line([run, { ...run, turn: 'u' }], true),
    ' * claude · 1 min 05 s · waits for your answer · 1 more running · Ctrl+C cancels',
  )
})

test('in a framework, the working line shows its name, its phase and its agents', () => {
  const run: RunningTurn = {
    turn: 't',
    since: now - 12_000,
    calls: [],
    lastAt: now,
    files: [],
    phase: { framework: 'consensus', words: '3 of 5 advisors are done' },
  }
  const line = (width: number, how: Partial<RunningTurn> = {}, inside: readonly AgentRow[] = []) =>
    bare(
      new WorkingLine(
        plain,
        clock,
        () => [{ ...run, ...how }],
        () => false,
        { runsFor: () => undefined, key: () => 'Ctrl+B' },
        { rows: () => inside, open: () => false },
      ).render(width)[0],
    )?.replace(/[⠋⠙⠸⠴⠦⠇]/, '*')
  const inside = [...rowsOf('gemini', 'codex', 'gemini', undefined), { ...rowsOf('qwen')[0]!, state: 'done' as const }]
  assert.equal(line(90), ' * consensus · 3 of 5 advisors are done · 12 s · Esc cancels')
  assert.equal(
    line(120, { by: 'claude' }, inside),
    ' * consensus · 3 of 5 advisors are done · gemini, codex · 12 s · Ctrl+T: 5 agents, 4 working · Esc cancels',
  )
  assert.equal(
    line(80, { by: 'claude' }, inside),
    ' * consensus · 3 of 5 advisors are done · 12 s · Ctrl+T: 5 agents · Esc cancels',
  )
  assert.equal(line(60, { by: 'claude' }, inside), ' * consensus · 3 of 5 advisors are done · 12 s')
  // A race has no agent of its own.
  assert.equal(
    line(80, { phase: undefined }, inside),
    ' * gemini, codex · 12 s · Ctrl+T: 5 agents, 4 working · Esc cancels',
  )
  const long = { framework: 'consensus' as const, words: `checking: ${'npm test '.repeat(20)}` }
  assert.equal(
    line(80, { by: 'claude', phase: long, calls: [{ call: 'c', tool: 'bash' }] }),
    ' * consensus · checking: npm test npm … · claude · 12 s · bash · Esc cancels',
  )
  assert.equal(line(30, { by: 'claude' }), ' * consensus · claude · 12 s')
})

test('numbers are short, and marked when they are approximate', () => {
  assert.deepEqual([0, 430, 9990, 12_300, 200_000, 3_900_000].map(duration), [
    '0.0 s',
    '0.4 s',
    '9.9 s',
    '12 s',
    '3 min 20 s',
    '1 h 05 min',
  ])
  assert.deepEqual([0, 9990, 12_300].map(elapsed), ['0 s', '9 s', '12 s'])
  assert.deepEqual(
    [tokens(999, 'reported'), tokens(1234, 'parsed'), tokens(123_456, 'estimated'), tokens(1_500_000, 'reported')],
    ['999 tokens', '~1.2k tokens', '~123k tokens', '1.5M tokens'],
  )
  assert.deepEqual([cost(0.0042, 'reported'), cost(1.5, 'estimated')], ['$0.004', '~$1.50'])
})
