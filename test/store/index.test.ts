import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileStore } from '../../src/store/files/file-store.ts'
import { DatabaseSync } from 'node:sqlite'
import fc from '../cases.ts'
import type { Fact } from '../../src/core/talk/entry.ts'
import type { Index } from '../../src/store/index/conversation-index.ts'
import { openIndex } from '../../src/store/index/conversation-index.ts'
import { all } from '../all-items.ts'
import { noon, world } from './index-world.ts'

const day = 24 * 60 * 60 * 1000

type World = ReturnType<typeof world>

/** All that can be asked, for comparing two ways to the same. */
async function everything({ index }: World, words: string[]) {
  const sessions = await index.sessions()
  return {
    sessions: await Promise.all(sessions.map(({ id }) => sessionIn(index, id))),
    traces: await Promise.all(sessions.map(({ id }) => all(index.toolTrace(id)))),
    hits: await Promise.all(words.map((word) => index.search(word))),
    usage: await Promise.all((['agent', 'day', 'project'] as const).map((by) => index.usage({ by }))),
    verdicts: await index.verdicts(),
  }
}

/** A session with its messages. */
async function sessionIn(index: Index, id: string) {
  const found = (await index.sessions()).find((one) => one.id === id)
  return found && { ...found, messages: await all(index.messages(id)) }
}

test('sessions are found with their names, their beginnings and their messages', async (t) => {
  const { home, store, index, turn } = world(t)
  assert.deepEqual([await index.catchUp(), await index.sessions(), await sessionIn(index, 's1')], [0, [], undefined])
  await turn('app', 's1', 't1', 'hello', 'hi there')
  await turn('app', 's2', 't2', 'more', 'yes')
  await turn('app', 's1', 't3', 'again', 'sure')
  await turn('lib', 's3', 't4', 'x'.repeat(500), 'long')
  await store.doc<unknown>('projects/app/project', {}).update(() => ({
    path: '/code/app',
    lastUsed: noon,
    current: 's1',
    sessions: { s1: { name: 'greeting', startedAt: noon, from: 0 }, s2: { startedAt: noon, from: 0 } },
  }))
  assert.equal(await index.catchUp(), 12)
  const log = readFileSync(join(home, 'projects/app/history.jsonl'), 'utf8')
  const s1 = {
    id: 's1',
    project: 'app',
    path: '/code/app',
    name: 'greeting',
    started: noon + 1,
    last: noon + 9,
    turns: 2,
    first: 'hello',
    begins: 0,
    ends: Buffer.byteLength(log),
  }
  const s2 = { id: 's2', project: 'app', path: '/code/app', started: noon + 4, last: noon + 6, turns: 1, first: 'more' }
  assert.deepEqual(
    (await index.sessions({ project: 'app' })).map((session) =>
      session.id === 's2' ? { ...session, begins: 0, ends: 0 } : session,
    ),
    [s1, { ...s2, begins: 0, ends: 0 }],
  )
  assert.deepEqual(
    (await index.sessions()).map(({ id, first }) => [id, first?.length]),
    [
      ['s3', 200],
      ['s1', 5],
      ['s2', 4],
    ],
  )
  const messages = [
    { role: 'user', by: 'user', text: 'hello', at: noon + 1 },
    { role: 'assistant', by: 'claude', text: 'hi there', at: noon + 2 },
    { role: 'user', by: 'user', text: 'again', at: noon + 7 },
    { role: 'assistant', by: 'claude', text: 'sure', at: noon + 8 },
  ]
  assert.deepEqual(await sessionIn(index, 's1'), { ...s1, messages })
  const db = new DatabaseSync(join(home, 'termaite.db'), { readOnly: true })
  const [row] = db.prepare("SELECT * FROM session_history WHERE session = 's1'").all()
  db.close()
  assert.deepEqual(
    { ...row, chat_history: JSON.parse(String(row!.chat_history)) },
    {
      id: 1,
      session: 's1',
      name: 'greeting',
      timestamp: '2026-11-15T12:00:00.001Z',
      chat_history: messages.map(({ text, ...rest }) => ({ ...rest, content: text })),
    },
  )
})

test('the view for other programs numbers the sessions, and has system and tool messages', async (t) => {
  const { home, index, say } = world(t)
  await say('app', 's1', 't1', 'user', { type: 'prompt', text: 'list it' })
  const frame = { key: 'k', frame: { system: 'You are termaite.', tools: [] }, told: [] }
  const ref = await fileStore(home).blobs('projects/app/output').put(JSON.stringify(frame), 'application/json')
  await say('app', 's1', 't1', 'native', { type: 'frame', ref })
  await say('app', 's1', 't1', 'native', { type: 'frame', ref: { ...ref, sha: '0'.repeat(64) } })
  await say('app', 's1', 't1', 'native', { type: 'guide', name: 'skill:files', text: 'Sort by name.' })
  await say('app', 's1', 't1', 'native', { type: 'call', call: 'c1', tool: 'ls', input: { path: '.' } })
  await say('app', 's1', 't1', 'native', { type: 'result', call: 'c1', ok: true, text: 'a.txt' })
  await say('app', 's1', 't1', 'native', { type: 'reply', text: 'a.txt' })
  await say('app', 's2', 't2', 'user', { type: 'prompt', text: 'and now?' })
  await index.catchUp()
  const db = new DatabaseSync(join(home, 'termaite.db'), { readOnly: true })
  const rows = db.prepare('SELECT id, session, typeof(id) AS kind, chat_history FROM session_history ORDER BY id').all()
  db.close()
  const by = 'native'
  const plain = (message: { at: number }) => ({ ...message, at: 0 })
  const called = { id: 'c1', type: 'function', function: { name: 'ls', arguments: '{"path":"."}' } }
  assert.deepEqual(
    rows.map((row) => ({ ...row, chat_history: JSON.parse(String(row.chat_history)).map(plain) })),
    [
      {
        id: 1,
        session: 's1',
        kind: 'integer',
        chat_history: [
          { role: 'system', content: 'You are termaite.', by, at: 0 },
          { role: 'user', content: 'list it', by: 'user', at: 0 },
          { role: 'system', content: 'Sort by name.', by, at: 0 },
          { role: 'assistant', content: '', by, at: 0, tool_calls: [called] },
          { role: 'tool', content: 'a.txt', by, at: 0, tool_call_id: 'c1' },
          { role: 'assistant', content: 'a.txt', by, at: 0 },
        ],
      },
      {
        id: 2,
        session: 's2',
        kind: 'integer',
        chat_history: [{ role: 'user', content: 'and now?', by: 'user', at: 0 }],
      },
    ],
  )
})

test('text that was typed while a turn ran is the person’s, and is found', async (t) => {
  const { index, say } = world(t)
  await say('app', 's1', 't1', 'user', { type: 'prompt', text: 'paint it' })
  const typed = await say('app', 's1', 't1', 'user', { type: 'steer', text: 'in turquoise' })
  await say('app', 's1', 't1', 'claude', { type: 'reply', text: 'done' })
  await index.catchUp()
  const found = await sessionIn(index, 's1')
  assert.deepEqual(
    [found!.turns, found!.messages.map(({ role, text }) => [role, text])],
    [
      1,
      [
        ['user', 'paint it'],
        ['user', 'in turquoise'],
        ['assistant', 'done'],
      ],
    ],
  )
  assert.deepEqual(
    (await index.search('turquoise')).map(({ id, type, snippet }) => [id, type, snippet]),
    [[typed.id, 'steer', 'in turquoise']],
  )
})

test('the entries of a session come from its log, whole', async (t) => {
  const { index, turn } = world(t)
  const first = await turn('app', 's1', 't1', 'hello', 'hi')
  await turn('app', 's2', 't2', 'other', 'one')
  const last = await turn('app', 's1', 't3', 'again', 'sure')
  await turn('app', 's2', 't4', 'other', 'one')
  await index.catchUp()
  assert.deepEqual(await all(index.entries('s1')), [...first, ...last])
  assert.deepEqual(await all(index.entries('unknown')), [])
})

test('a renamed session and a torn line change nothing else in the index', async (t) => {
  const { home, store, index, turn } = world(t)
  await turn('app', 's1', 't1', 'hello', 'hi')
  await index.catchUp()
  appendFileSync(join(home, 'projects/app/history.jsonl'), '{"id":"torn","te')
  assert.equal(await index.catchUp(), 0)
  await store.doc<unknown>('projects/app/project', {}).update(() => ({ sessions: { s1: { name: 'new name' } } }))
  await turn('app', 's1', 't2', 'more', 'yes')
  assert.equal(await index.catchUp(), 3)
  assert.deepEqual(
    (await index.sessions()).map(({ name, turns }) => [name, turns]),
    [['new name', 2]],
  )
})

test('following the logs bit by bit gives the same as building anew', async (t) => {
  const here = world(t)
  const { index, say, turn } = here
  for (let i = 0; i < 12; i++) {
    const [project, session] = [`p${i % 2}`, `s${i % 3}.${i % 2}`]
    await turn(project, session, `t${i}`, `question ${i} about apples`, `answer ${i} about pears`)
    await say(project, session, `t${i}`, 'claude', {
      type: 'call',
      call: `c${i}`,
      tool: 'bash',
      input: { command: 'ls' },
    })
    await say(project, session, `t${i}`, 'claude', {
      type: 'result',
      call: `c${i}`,
      ok: i % 2 === 0,
      text: 'apples.txt',
    })
    await say(project, session, `t${i}`, 'claude', {
      type: 'usage',
      input: i,
      output: 1,
      cost: 0.25,
      source: 'reported',
    })
    await say(project, session, `t${i}`, 'claude', {
      type: 'verdict',
      framework: i % 3 === 0 ? 'consensus' : 'direct',
      why: 'more than one way',
      calls: i,
      ms: 100 * i,
    })
    if (i % 4 === 0) await index.catchUp()
  }
  await index.catchUp()
  const words = ['apples', 'answer 7', 'app pea', 'ls', 'nothing']
  const followed = await everything(here, words)
  assert.deepEqual(
    followed.hits.map((hits) => hits.length),
    [20, 1, 0, 12, 0],
  )
  assert.equal(await index.rebuild(), 12 * 7)
  assert.deepEqual(await everything(here, words), followed)
})

test('a log that was cleared, replaced or removed is taken in anew', async (t) => {
  const here = world(t)
  const { home, store, index, turn } = here
  await turn('app', 's1', 't1', 'first', 'one')
  await turn('lib', 's9', 't9', 'other', 'one')
  await index.catchUp()
  const ids = async () => (await index.sessions()).map(({ id }) => id)
  await store.log('projects/app/history').clear()
  await turn('app', 's2', 't2', 'second', 'x'.repeat(1000))
  await index.catchUp()
  assert.deepEqual([await ids(), await index.search('first')], [['s2', 's9'], []])
  await store.log('projects/app/history').clear()
  await index.catchUp()
  assert.deepEqual(await ids(), ['s9'])
  rmSync(join(home, 'projects/lib'), { recursive: true })
  await index.catchUp()
  assert.deepEqual(await ids(), [])
})

test('a damaged file, another version and half a file are made anew, wherever that shows', async (t) => {
  const { home, index, turn } = world(t)
  const path = join(home, 'termaite.db')
  for (let i = 0; i < 40; i++) await turn('app', 's1', `t${i}`, `hello ${i}`, 'x'.repeat(2_000))
  await index.catchUp()
  const good = await sessionIn(index, 's1')
  await index.close()
  const damages = [
    () => writeFileSync(path, 'this is no database'.repeat(100)),
    () => writeFileSync(path, readFileSync(path).fill(0xff, 4096)),
    () => {
      const db = new DatabaseSync(path)
      db.exec('PRAGMA user_version = 99')
      db.close()
    },
    () => {
      rmSync(path)
      const db = new DatabaseSync(path)
      db.exec('CREATE TABLE stranger (x)')
      db.close()
    },
  ]
  for (const damage of damages) {
    damage()
    const again = openIndex(home)
    await again.catchUp()
    assert.deepEqual(await sessionIn(again, 's1'), good)
    assert.equal((await again.search('hello 39')).length, 1)
    await again.close()
  }
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('words are found by their beginnings, best first, in one project or all', async (t) => {
  const { index, say, turn } = world(t)
  await turn('app', 's1', 't1', 'Why does the Läufer crash?', 'Because of the parser.')
  await say('app', 's1', 't2', 'claude', {
    type: 'call',
    call: 'c1',
    tool: 'bash',
    input: { command: 'npm run parse' },
  })
  await turn('lib', 's2', 't3', 'コードを直してください', 'a ==> b')
  await index.catchUp()
  const found = async (text: string, of = {}) => (await index.search(text, of)).map((hit) => hit.id).sort()
  assert.deepEqual(await index.search('laufer crash'), [
    {
      project: 'app',
      session: 's1',
      turn: 't1',
      id: 'e1',
      at: noon + 1,
      by: 'user',
      type: 'prompt',
      snippet: 'Why does the Läufer crash?',
    },
  ])
  assert.deepEqual(await found('pars'), ['e2', 'e4'])
  assert.deepEqual(await found('pars', { limit: 1 }).then((ids) => ids.length), 1)
  assert.deepEqual(await found('pars', { project: 'lib' }), [])
  assert.deepEqual(await found('直して'), ['e5'])
  assert.deepEqual(await found('==>'), ['e6'])
  assert.deepEqual(await found('  '), [])
})

test('no search text is an error', async (t) => {
  const { index, turn } = world(t)
  await turn('app', 's1', 't1', 'hello', 'hi')
  await index.catchUp()
  const hostile = [
    '"',
    '""',
    "'",
    '*',
    'a*b',
    'NOT',
    'a AND',
    'OR OR',
    'NEAR(',
    'text:x',
    '^',
    '(',
    ')',
    '{a b}',
    '-',
    '+',
    '\0',
    'a\0"b',
    '%',
    '_',
    '\\',
    '\ud800',
    '; DROP TABLE entries',
  ]
  for (const text of [...hostile, 'word '.repeat(5_000)]) assert.ok(Array.isArray(await index.search(text)), text)
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 30 }), async (text) => void (await index.search(text))),
    { numRuns: 200 },
  )
  assert.equal((await index.search('hello')).length, 1)
})

test('usage is summed by agent, day and project, and says how it is known', async (t) => {
  const { store, index, say } = world(t)
  const use = (project: string, by: string, at: number, fact: Omit<Extract<Fact, { type: 'usage' }>, 'type'>) =>
    say(project, `s-${project}`, 't', by, { type: 'usage', ...fact }, at)
  await use('app', 'claude', noon, { input: 100, output: 10, cached: 50, cost: 0.5, source: 'reported' })
  await use('app', 'claude', noon + day, { input: 200, output: 20, source: 'reported' })
  await use('app', 'claude', noon + day, { input: 7, output: 1, source: 'estimated' })
  await use('lib', 'gemini', noon + day, { input: 1000, output: 5, cost: 0.25, source: 'parsed' })
  await store.doc('projects/app/project', {}).update(() => ({ path: '/code/app' }))
  await index.catchUp()
  const claude = {
    key: 'claude',
    source: 'reported',
    count: 2,
    input: 300,
    output: 30,
    cached: 50,
    cost: 0.5,
    priced: 1,
  }
  const guess = { key: 'claude', source: 'estimated', count: 1, input: 7, output: 1, cached: 0, priced: 0 }
  const gemini = { key: 'gemini', source: 'parsed', count: 1, input: 1000, output: 5, cached: 0, cost: 0.25, priced: 1 }
  assert.deepEqual(await index.usage({ by: 'agent' }), [guess, claude, gemini])
  assert.deepEqual(await index.usage({ by: 'agent', project: 'lib' }), [gemini])
  assert.deepEqual(await index.usage({ by: 'project' }), [
    { ...guess, key: '/code/app' },
    { ...claude, key: '/code/app' },
    { ...gemini, key: 'lib' },
  ])
  const local = (at: number) => new Intl.DateTimeFormat('sv').format(at)
  const later = { count: 1, input: 200, output: 20, cached: 0, priced: 0 }
  assert.deepEqual(await index.usage({ by: 'day', since: noon + 1 }), [
    { ...guess, key: local(noon + day) },
    { ...gemini, key: local(noon + day) },
    { key: local(noon + day), source: 'reported', ...later },
  ])
})

test('turns, failures and time without quota are counted by agent, project and the days of a zone', async (t) => {
  const { store, index, say } = world(t)
  const hour = day / 24
  const midnight = Date.parse('2026-03-10T00:00:00Z')
  const tell = (turn: string, by: string, fact: Fact, at: number, project = 'app') =>
    say(project, `s-${project}`, turn, by, fact, at)
  const spent = (retryAt?: number): Fact => ({
    type: 'attempt',
    failure: retryAt === undefined ? { kind: 'quota', message: 'spent' } : { kind: 'quota', message: 'spent', retryAt },
    ms: 1,
  })
  const at = midnight + 22 * hour
  await tell('t1', 'user', { type: 'prompt', text: 'x' }, at)
  await tell('t1', 'claude', spent(at + 6 * hour), at)
  // Another process meets the same limit: the time counts once.
  await tell('t1', 'claude', spent(at + 5 * hour), at + hour)
  await tell('t1', 'codex', { type: 'reply', text: 'y' }, at + hour)
  await tell('t1', 'rotation', { type: 'end', outcome: { ok: true, text: 'y' } }, at + hour)
  await tell('t2', 'user', { type: 'prompt', text: 'x' }, at + 2 * hour, 'lib')
  await tell('t2', 'codex', { type: 'attempt', failure: { kind: 'aborted', message: 'stopped' }, ms: 1 }, at, 'lib')
  await tell('t2', 'codex', { type: 'attempt', failure: { kind: 'crash', message: 'died' }, ms: 1 }, at, 'lib')
  await tell('t2', 'gemini', spent(), at + 2 * hour, 'lib')
  // An answer shows that the quota was back before the hour that an unknown wait counts.
  await tell('t3', 'user', { type: 'prompt', text: 'x' }, at + 2.5 * hour, 'lib')
  await tell('t3', 'gemini', { type: 'reply', text: 'y' }, at + 2.6 * hour, 'lib')
  await tell('t3', 'rotation', { type: 'end', outcome: { ok: true, text: 'y' } }, at + 2.6 * hour, 'lib')
  await store.doc('projects/app/project', {}).update(() => ({ path: '/code/app' }))
  await index.catchUp()
  const now = at + 4 * hour
  const row = (key: string, turns: number, failures: number, hours: number) => ({
    key,
    turns,
    failures,
    parkedMs: hours * hour,
  })
  assert.deepEqual(await index.activity({ by: 'agent', now }), [
    row('claude', 0, 2, 4),
    row('codex', 1, 1, 0),
    row('gemini', 1, 1, 0.5),
  ])
  assert.deepEqual(await index.activity({ by: 'project', now }), [row('/code/app', 1, 2, 4), row('lib', 1, 2, 0.5)])
  assert.deepEqual(await index.activity({ by: 'day', now, zone: 'UTC' }), [
    row('2026-03-10', 1, 3, 2),
    row('2026-03-11', 1, 1, 2.5),
  ])
  // In Kathmandu, a quarter of an hour off, all of it is the day after.
  assert.deepEqual(await index.activity({ by: 'day', now, zone: 'Asia/Kathmandu' }), [row('2026-03-11', 2, 4, 4.5)])
  assert.deepEqual(await index.activity({ by: 'agent', now, since: at + 3 * hour }), [row('claude', 0, 0, 1)])
  assert.deepEqual(await index.activity({ by: 'agent', now, project: 'lib' }), [
    row('codex', 0, 1, 0),
    row('gemini', 1, 1, 0.5),
  ])
})

test('a tool trace has each call, its result, and the calls without one', async (t) => {
  const { index, say } = world(t)
  const call = (turn: string, call: string, input: unknown) =>
    say('app', 's1', turn, 'native', { type: 'call', call, tool: 'bash', input })
  const result = (turn: string, call: string, ok: boolean, text: string) =>
    say('app', 's1', turn, 'native', { type: 'result', call, ok, text })
  await call('t1', '1', { command: 'ls' })
  await result('t1', '1', true, 'a.txt')
  await call('t1', '1', 'head of a long input')
  await result('t1', '1', false, 'no')
  await call('t2', '1', { command: 'sleep' })
  await index.catchUp()
  const common = { call: '1', tool: 'bash', by: 'native' }
  assert.deepEqual(await all(index.toolTrace('s1')), [
    { turn: 't1', ...common, at: noon + 1, input: '{"command":"ls"}', ok: true, output: 'a.txt', ms: 1 },
    { turn: 't1', ...common, at: noon + 3, input: 'head of a long input', ok: false, output: 'no', ms: 1 },
    { turn: 't2', ...common, at: noon + 5, input: '{"command":"sleep"}' },
  ])
})

test('forgotten words are in no file any more', async (t) => {
  const { home, store, index, turn } = world(t)
  await turn('app', 's1', 't1', 'the secret is xyzzyplugh', 'noted: xyzzyplugh')
  await turn('lib', 's2', 't2', 'keep this', 'kept')
  await index.catchUp()
  await store.log('projects/app/history').clear()
  await index.forget('app')
  assert.deepEqual(
    (await index.sessions()).map(({ id }) => id),
    ['s2'],
  )
  assert.deepEqual(await index.search('xyzzyplugh'), [])
  const holding = readdirSync(home).filter(
    (name) => name.startsWith('termaite') && readFileSync(join(home, name)).includes('xyzzyplugh'),
  )
  assert.deepEqual(holding, [])
  assert.equal(await index.catchUp(), 0)
})

test('several that follow the logs at once take in each entry once', async (t) => {
  const { home, index, turn } = world(t)
  const others = [openIndex(home), openIndex(home)]
  t.after(() => Promise.all(others.map((other) => other.close())))
  for (let i = 0; i < 300; i++) await turn('app', 's1', `t${i}`, `hello ${i}`, 'x'.repeat(5_000))
  await Promise.all([...others, index, index].map((one) => one.catchUp()))
  assert.deepEqual(
    (await index.sessions()).map(({ turns }) => turns),
    [300],
  )
  const { messages } = (await sessionIn(index, 's1'))!
  assert.equal(messages.length, 600)
  assert.equal((await index.search('hello', { limit: 1_000 })).length, 300)
})

test("another version's entries and broken lines do not stop it", async (t) => {
  const { home, index, turn } = world(t)
  await turn('app', 's1', 't1', 'hello', 'hi')
  const base = { id: 'x', at: noon, by: 'b', session: 's1', turn: 't9' }
  const strange = [
    { ...base, type: 'usage' },
    { ...base, type: 'verdict' },
    { ...base, type: 'attempt' },
    { ...base, type: 'call' },
    { ...base, type: 'end' },
    { ...base, type: 'dream', text: 7 },
    { id: 1 },
  ]
  appendFileSync(
    join(home, 'projects/app/history.jsonl'),
    [...strange.map((entry) => JSON.stringify(entry)), 'nonsense', ''].join('\n'),
  )
  writeFileSync(join(home, 'projects', 'not a folder'), '')
  assert.equal(await index.catchUp(), 3 + 6)
  assert.equal((await index.search('hello')).length, 1)
})

const shell = spawnSync('sqlite3', ['--version'], { encoding: 'utf8' })

test(
  'a sqlite3 of the system reads the index, its view of the sessions in their order',
  { skip: shell.error && 'there is no sqlite3 here' },
  async (t) => {
    const { home, index, turn } = world(t)
    await turn('app', 's1', 't1', 'hello', 'hi there')
    await turn('app', 's1', 't2', 'again', 'sure')
    await index.catchUp()
    const query = 'SELECT session, chat_history FROM session_history'
    const { stdout, stderr } = spawnSync('sqlite3', [join(home, 'termaite.db'), query], { encoding: 'utf8' })
    assert.equal(stderr, '')
    const [id, messages] = stdout.trim().split('|') as [string, string]
    assert.deepEqual(
      [id, (JSON.parse(messages) as { content: string }[]).map(({ content }) => content)],
      ['s1', ['hello', 'hi there', 'again', 'sure']],
    )
  },
)
