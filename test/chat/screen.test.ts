import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { Entry, Event } from '../../src/core/talk/entry.ts'
import type { ScriptedDesk } from './scripted-desk.ts'
import { goldenOf } from '../golden.ts'
import { sit } from './sitting.ts'

const golden = goldenOf(import.meta.filename)

const timeout = 20_000
const [ctrlC, ctrlD, ctrlK, ctrlO, escape, shiftTab] = ['\x03', '\x04', '\x0b', '\x0f', '\x1b', '\x1b[Z']
const [pageUp, pageDown, ctrlHome, ctrlEnd] = ['\x1b[5~', '\x1b[6~', '\x1b[1;5H', '\x1b[1;5F']

test('an empty conversation says welcome and what to do next', { timeout }, async (t) => {
  const { seen, terminal, end } = sit(t, {}, { columns: 72, rows: 20 })
  golden(t, await seen(/Welcome[^]*claude/))
  terminal.press(ctrlD)
  await end
})

test('messages at the start stand below the welcome', { timeout }, async (t) => {
  const { desk, seen, terminal, end } = sit(t, {}, { columns: 72, rows: 18 })
  desk.happen({ type: 'said', how: 'note', text: 'settings.json: one thing is odd' })
  golden(t, await seen('is odd'))
  terminal.resize(72, 24)
  await seen(/Welcome to[^]*██████[^]*is odd/)
  terminal.press(ctrlD)
  await end
})

test('a person without an agent is welcomed too, and guided by the setup alone', { timeout }, async (t) => {
  const { desk, seen, terminal, end } = sit(t, { standing: { agents: [] } })
  await seen(/Welcome to[^]*No agent is set up yet/)
  desk.happen({ type: 'said', how: 'error', text: 'no agent CLI is installed here' })
  const screen = (await seen('is installed here')).join('\n')
  assert.deepEqual([/Welcome to[^]*██████/.test(screen), screen.includes('is set up yet')], [true, false])
  terminal.press(ctrlD)
  await end
})

test('a cleared screen is empty, but a conversation that has not begun is still welcomed', { timeout }, async (t) => {
  const { desk, seen, gone, terminal, end } = sit(t)
  desk.happen({ type: 'said', how: 'note', text: 'a warning' })
  await seen('a warning')
  desk.screen!.clear()
  await seen(/Welcome to[^]*██/)
  await gone('a warning')
  desk.turn('t', { type: 'prompt', text: 'go', by: 'you' }, { type: 'end', outcome: { ok: true, text: 'done so' } })
  await seen('done so')
  desk.screen!.clear()
  const lines = await gone('done so')
  assert.deepEqual(new Set(lines.slice(1, 21)), new Set(['']))
  terminal.press(ctrlD)
  await end
})

const story: Event[] = [
  { type: 'prompt', text: 'make it so', by: 'you' },
  { type: 'thought', delta: 'Where is it?', by: 'claude' },
  { type: 'call', call: 'c', tool: 'Bash', input: { command: 'npm test' }, by: 'claude' },
]

test('a clock that is set makes neither a turn nor its calls last a year', { timeout }, async (t) => {
  const yearMs = 31_536_000_000
  for (const shiftMs of [yearMs, -yearMs]) {
    const { desk, seen, clock, terminal, end } = sit(t, {}, { columns: 60, rows: 16 })
    await seen('Welcome')
    let ids = 0
    const kept = (event: Event): Event => {
      return { by: 'claude', ...event, id: `e${++ids}`, session: 's', turn: 't', at: clock.now() } as Entry
    }
    desk.turn('t', ...story.map(kept))
    await seen('Bash npm test')
    clock.set(clock.now() + shiftMs)
    await clock.turn(7250)
    await seen(/ claude · 7 s · Bash · last event 7 s ago · Esc cancels/)
    desk.turn('t', kept({ type: 'result', call: 'c', ok: true, text: 'fine', by: 'claude' }))
    await seen('✓ Bash npm test · 7.2 s')
    clock.set(clock.now() - 2 * shiftMs)
    await clock.turn(1000)
    await seen(/ claude · 8 s · Esc cancels/)
    terminal.press(ctrlC)
    terminal.press(ctrlC)
    await end
  }
})

test('a turn at work, and then its closing line', { timeout }, async (t) => {
  const { desk, seen, gone, clock, terminal, end } = sit(t, {}, { columns: 60, rows: 16 })
  await seen('Welcome')
  desk.turn('t', ...story)
  await seen('Bash npm test')
  await clock.turn(7250)
  // The last picture of the sign that turns is the one of this moment.
  golden(t, await seen('⠇ claude · 7 s · Bash · last event 7 s ago'))
  desk.turn(
    't',
    { type: 'result', call: 'c', ok: true, text: 'fine', by: 'claude' },
    { type: 'reply', text: 'It **is** so.', by: 'claude' },
    { type: 'end', outcome: { ok: true, text: 'It **is** so.' } },
  )
  const changed = { files: 2, added: 5, removed: 1 }
  desk.happen({
    type: 'closing',
    closing: { turn: 't', by: 'claude', why: 'it was next', ms: 7250, changed, tokens: 1234, source: 'estimated' },
  })
  await seen('it was next')
  golden(t, await gone('Esc cancels'))
  await clock.turn(250)
  assert.equal(clock.asleep, 0, 'an idle screen waits for nothing')
  terminal.press(ctrlD)
  await end
})

test('Ctrl+O opens all folded blocks, and a click opens one', { timeout }, async (t) => {
  const { desk, seen, gone, terminal, end } = sit(t)
  await seen('Welcome')
  desk.turn('t', ...story, { type: 'result', call: 'c', ok: true, text: 'all 42 passed', by: 'claude' })
  const folded = await seen('✓ Bash')
  terminal.press(ctrlO)
  await seen('all 42 passed')
  terminal.press(ctrlO)
  await gone('all 42 passed')
  const row = folded.findIndex((line) => line.includes('✓ Bash')) + 1
  terminal.press(`\x1b[<0;10;${row}M`, `\x1b[<0;10;${row}m`)
  await seen('all 42 passed')
  terminal.press(ctrlC, ctrlC)
  await end
})

test('lines that are selected with the mouse are copied as they are shown', { timeout }, async (t) => {
  const { seen, terminal, end } = sit(t, { entries: conversation(1) }, { env: { NO_COLOR: '1', PATH: '' } })
  const lines = await seen('second paragraph of 0')
  const from = lines.findIndex((line) => line.includes('answer 0')) + 1
  terminal.press(`\x1b[<0;1;${from}M`, `\x1b[<32;80;${from + 2}M`, `\x1b[<0;80;${from + 2}m`)
  const copied = Buffer.from('  answer 0\n\n  second paragraph of 0').toString('base64')
  while (!terminal.written.includes(`\x1b]52;c;${copied}\x07`)) await new Promise((resolve) => setImmediate(resolve))
  terminal.press(ctrlD)
  await end
})

test('a card takes the place of the input, and Enter answers it', { timeout }, async (t) => {
  const { desk, seen, clock, terminal, end } = sit(t)
  await seen('Welcome')
  const question = {
    about: 'permission' as const,
    text: 'May I run it?',
    from: [],
    options: [
      { id: 'yes', label: 'Yes, please' },
      { id: 'no', label: 'No' },
    ],
  }
  desk.turn('t', { type: 'prompt', text: 'go', by: 'you' }, { type: 'question', ask: 'q', question, by: 'claude' })
  await seen('Yes, please')
  await clock.turn(1000)
  await seen('waits for your answer')
  terminal.press('\r', 'and', ' on')
  await seen(/─\n and on/)
  await seen(/● claude\n {2}\? May I run it\? → Yes, please/)
  assert.deepEqual(desk.answers, [{ ask: 'q', picks: ['yes'] }])
  terminal.press(ctrlC)
  await seen('Ask anything')
  await clock.turn(2500)
  terminal.press(ctrlC, ctrlC)
  assert.deepEqual(await end, { why: 'exit' })
})

for (const [columns, rows] of [
  [80, 24],
  [200, 50],
  [80, 9],
] as const)
  for (const lines of [1, 60])
    test(
      `words typed while a card of ${lines} lines is open stand below it, at ${columns}×${rows}`,
      { timeout },
      async (t) => {
        const commands = ['help', 'leash'].map((name) => ({ name, help: `about ${name}`, run: async () => {} }))
        const { desk, seen, gone, clock, terminal } = sit(t, { commands }, { columns, rows })
        await seen('Ask anything')
        terminal.press('early ')
        await seen('early')
        const text = Array.from({ length: lines }, (_, at) => `Is ${at} right?`).join('\n')
        const options = ['Yes', 'No'].map((label) => ({ id: label, label }))
        desk.turn('t', { type: 'prompt', text: 'go', by: 'you' })
        desk.turn('t', {
          type: 'question',
          ask: 'q',
          question: { about: 'choice', text, from: [], options },
          by: 'claude',
        })
        await seen(/^[ ›] ?early[^]*leash ask/m)
        await clock.turn(1000)
        await seen(/1 Yes[^]*2 No/)
        for (const key of 'abc typed') terminal.press(key)
        await seen(/Is 0 right\?[^]*1 Yes[^]*2 No[^]*\n[ ›] ?early abc typed/)
        terminal.press('\r')
        await gone('early abc typed')
        assert.deepEqual(desk.submitted, ['early abc typed'])
        assert.deepEqual(desk.answers, [])
        // The suggestion that Enter would take is in sight too.
        for (const key of '/le') terminal.press(key)
        await seen(/Is 0 right\?[^]*› \/leash[^]*\n[ ›] ?\/le/)
      },
    )

test('the keys of the screen: cancel, leash, palette, leave', { timeout }, async (t) => {
  const commands = ['help', 'agents'].map((name) => ({ name, help: `about ${name}`, run: async () => {} }))
  const { desk, seen, gone, clock, terminal, end } = sit(t, { commands })
  await seen('Welcome')
  desk.busy = true
  terminal.press(escape)
  assert.equal(desk.cancels, 1)
  for (const leash of ['edit', 'read', 'ask', 'edit']) {
    terminal.press(shiftTab)
    await seen(`leash ${leash}`)
  }
  desk.setLeash('all')
  await seen('leash all')
  terminal.press(shiftTab)
  await seen('leash read')
  terminal.press(ctrlK)
  await seen('about agents')
  terminal.press(escape)
  await gone('about agents')
  assert.equal(desk.cancels, 1, 'the palette took that Esc')
  terminal.press('h', 'i')
  await seen(/─\n hi/)
  terminal.press(ctrlD)
  terminal.press(ctrlC)
  await seen(/─\n Ask anything/)
  assert.equal(desk.cancels, 1, 'the input was cleared instead')
  await clock.turn(2500)
  terminal.press(ctrlC)
  assert.equal(desk.cancels, 2)
  terminal.press(ctrlC)
  assert.deepEqual(await end, { why: 'exit' })
  assert.deepEqual(desk.submitted, [])
})

test('words that are shown for a moment and the palette leave the rules whole', { timeout }, async (t) => {
  const commands = Array.from({ length: 40 }, (_, at) => ({ name: `do${at}`, help: `does ${at}`, run: async () => {} }))
  const { seen, gone, clock, terminal } = sit(t, { commands })
  await seen('Welcome')
  terminal.press(escape)
  const rules = (lines: readonly string[]) =>
    lines.flatMap((line, row) => (line.startsWith('──') ? [[row, line.length, line]] : []))
  golden(t, rules(await seen('Esc again')))
  await clock.turn(2500)
  terminal.press(ctrlC)
  golden(t, rules(await seen('Ctrl+C again leaves')))
  await gone('Ctrl+C again leaves')
  terminal.press(ctrlK)
  golden(t, await seen('1 of 40'))
})

function conversation(turns: number): Entry[] {
  return Array.from({ length: turns }, (_, at): Entry[] => {
    const common = { session: 's', turn: `t${at}`, at: at * 1000 }
    const text = `answer ${at}\n\nsecond paragraph of ${at}`
    return [
      { ...common, id: `p${at}`, by: 'you', type: 'prompt', text: `question ${at}` },
      { ...common, id: `r${at}`, by: 'claude', type: 'reply', text },
      { ...common, id: `e${at}`, by: 'claude', type: 'end', outcome: { ok: true, text } },
    ]
  }).flat()
}

test('scrolling up loads earlier entries, and the place is kept', { timeout }, async (t) => {
  const { seen, terminal, end } = sit(t, { entries: conversation(400), shown: 30 })
  await seen('answer 399')
  terminal.press(ctrlHome)
  const loaded = await seen(/answer 39\d[^]*Ctrl\+End/)
  assert.ok(!loaded.join('\n').includes('answer 399'))
  while (!/question 0\s/.test((await terminal.lines()).join('\n'))) {
    terminal.press(ctrlHome)
    await new Promise((resolve) => setImmediate(resolve))
  }
  terminal.press(ctrlEnd)
  await seen('answer 399')
  terminal.press(ctrlD)
  await end
})

test('a long text of a command is shown from its beginning, and PgDn scrolls on', { timeout }, async (t) => {
  const onSubmit = (_text: string, desk: ScriptedDesk) => desk.happen({ type: 'said', text: page('item'), how: 'text' })
  const page = (word: string) =>
    ['# The page', '', ...Array.from({ length: 60 }, (_, at) => `- ${word} ${at + 1}`)].join('\n')
  const { desk, seen, terminal } = sit(t, { entries: conversation(5), onSubmit })
  await seen('answer 4')
  terminal.press('the page, please', '\r')
  const shown = await seen('The page')
  assert.equal(shown[1]!.slice(2).replaceAll(/[ │┃]+$/g, ''), 'The page')
  assert.ok(shown.some((line) => line.includes('item 10') && !line.includes('item 60')))
  terminal.press(pageDown)
  await seen(/item 1\d[^]*item 2\d/)
  terminal.press(ctrlEnd)
  await seen('item 60')
  // A short one is followed, and so is what an agent says.
  desk.happen({ type: 'said', text: '# Short\n\nshort words', how: 'text' })
  await seen(/item 60[^]*short words/)
  desk.turn('t', { type: 'prompt', text: 'go', by: 'you' }, { type: 'reply', text: page('thing'), by: 'claude' })
  await seen('thing 60')
})

test('closing lines of the history say what their turns changed', { timeout }, async (t) => {
  const changes = { t8: { files: 2, added: 3, removed: 4 }, t9: { files: 1, added: 1, removed: 0 } }
  const { seen, terminal } = sit(t, { entries: conversation(10), shown: 3, changes })
  await seen('─ claude · 0.0 s · 1 file +1 −0')
  // Those that are loaded later say it too.
  terminal.press(pageUp)
  await seen(/─ claude · 0\.0 s\n[^]*─ claude · 0\.0 s · 2 files \+3 −4/)
})

test('a person who reads further up stays there, and is told about new blocks', { timeout }, async (t) => {
  const { desk, seen, terminal, end } = sit(t, { entries: conversation(40) })
  await seen('answer 39')
  terminal.press(pageUp, pageUp)
  const reading = await seen('Ctrl+End')
  desk.turn('new', { type: 'prompt', text: 'more', by: 'you' }, { type: 'text', delta: 'words', by: 'claude' })
  const told = await seen('2 more below')
  const words = (lines: string[]) => lines.slice(0, 17).map((line) => line.replace(/ *[│┃]$/, ''))
  assert.deepEqual(words(told), words(reading))
  terminal.resize(50, 30)
  const narrow = await seen(/^── termaite · demo ─{31}\n/)
  const first = reading
    .slice(1)
    .find((line) => /question|answer/.test(line))!
    .replace(/ *[│┃]$/, '')
  await seen(first)
  assert.ok(narrow.length === 30)
  terminal.press(ctrlEnd)
  await seen('words')
  terminal.press(ctrlC, ctrlC)
  await end
})

test('sending a prompt from further up scrolls to its answer', { timeout }, async (t) => {
  const onSubmit = (text: string, desk: ScriptedDesk) => desk.turn('new', { type: 'prompt', text, by: 'you' })
  const { seen, terminal, end } = sit(t, { entries: conversation(40), onSubmit })
  await seen('answer 39')
  terminal.press(pageUp, pageUp)
  await seen('Ctrl+End')
  terminal.press('m', 'o', 'r', 'e', '\r')
  await seen('❯ more')
  terminal.press(ctrlC, ctrlC)
  await end
})

test('on leaving, the terminal is as it was, and the last answer stays', { timeout }, async (t) => {
  const { seen, terminal, end } = sit(t, { entries: conversation(3) })
  await seen('answer 2')
  assert.equal(await terminal.buffer(), 'alternate')
  terminal.press(ctrlD)
  assert.deepEqual(await end, { why: 'exit' })
  assert.deepEqual((await terminal.lines()).slice(0, 4), ['● claude', '  answer 2', '', '  second paragraph of 2'])
  assert.deepEqual([await terminal.buffer(), terminal.started], ['normal', false])
})

test('a fault in a component ends the chat with its words, and the terminal is given back', { timeout }, async (t) => {
  const { desk, seen, terminal, end } = sit(t)
  await seen('Welcome')
  const standing = desk.standing()
  desk.happen({ type: 'standing', standing: { ...standing, agents: undefined as never } })
  const { why, message } = (await end) as { why: string; message: string }
  assert.equal(why, 'broken')
  assert.match(message, /undefined/)
  assert.deepEqual([await terminal.buffer(), terminal.started], ['normal', false])
})

test('a signal ends the chat too', { timeout }, async (t) => {
  const { seen, abort, terminal, end } = sit(t)
  await seen('Welcome')
  abort()
  assert.deepEqual(await end, { why: 'aborted' })
  assert.equal(await terminal.buffer(), 'normal')
})

test('a command can use the screen', { timeout }, async (t) => {
  const { desk, seen, gone, terminal, end } = sit(t, { entries: conversation(3) }, { env: { NO_COLOR: '1', PATH: '' } })
  await seen('answer 2')
  const screen = desk.screen!
  screen.fill('typed for you')
  await seen('typed for you')
  const during = await screen.suspend(async () => [terminal.started, await terminal.buffer()])
  assert.deepEqual([during, terminal.started, await terminal.buffer()], [[false, 'normal'], true, 'alternate'])
  await seen('typed for you')
  assert.equal(await screen.copy('héllo'), 'Copied by the terminal.')
  assert.ok(terminal.written.includes(`\x1b]52;c;${Buffer.from('héllo').toString('base64')}\x07`))
  screen.clear()
  await gone('answer 2')
  screen.exit()
  assert.deepEqual(await end, { why: 'exit' })
})

test('a light terminal gets light colours, a plain one none', { timeout }, async (t) => {
  const colours = { TERM: 'xterm' }
  const light = sit(t, {}, { env: colours, background: 'rgb:ffff/ffff/ffff' })
  await light.seen('Welcome')
  while (!light.terminal.written.includes('\x1b[34m──')) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(light.terminal.written.includes('\x1b[36m──'), 'the first paint did not wait')
  const plain = sit(t, { entries: conversation(1) })
  await plain.seen('answer 0')
  assert.deepEqual([...plain.terminal.written.matchAll(/\x1b\[(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|[34]8;[^m]*)m/g)], [])
  for (const { terminal, end } of [light, plain]) {
    terminal.press(ctrlD)
    await end
  }
})

test('in the normal buffer the words stand without a frame', { timeout }, async (t) => {
  const { seen, terminal, end } = sit(t, { entries: conversation(1) }, { altScreen: false, columns: 40 })
  const lines = await seen('answer 0')
  assert.deepEqual(lines.slice(0, 7), [
    '── termaite · demo ─────────────────────',
    '❯ question 0',
    '',
    '● claude',
    '  answer 0',
    '',
    '  second paragraph of 0',
  ])
  assert.equal(await terminal.buffer(), 'normal')
  terminal.press(ctrlD)
  await end
  const left = (await terminal.lines()).map((line) => line.trimEnd())
  assert.deepEqual(left.slice(0, 24), [...lines.slice(0, 7), '─ claude · 0.0 s', ...Array(16).fill('')])
})
