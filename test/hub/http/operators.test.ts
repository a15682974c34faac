import { test } from 'node:test'
import assert from 'node:assert/strict'
import { AddressRanges } from '../../../src/base/http/address-ranges.ts'
import { StoreError } from '../../../src/core/talk/store.ts'
import { LedgerAway } from '../../../src/hub/model/ledger-away.ts'
import { wholeHub } from '../../../src/hub/model/tasks/machine-rules.ts'
import { until } from '../../until.ts'
import { hubHouse, outerAddress, send, user, withoutNetwork } from './hub-house.ts'
import { LedgerDisk } from '../../../src/hub/engine/ledger-disk.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const bearer = (key = 'the-key') => ({ authorization: `Bearer ${key}` })

/** The samples of a text in Prometheus' format; fails where a line has another form. */
function samples(text: string): Record<string, number> {
  assert.ok(text.endsWith('\n'))
  const lines = text.trimEnd().split('\n')
  for (const line of lines)
    assert.match(line, /^# (?:HELP|TYPE) \w+ .+$|^\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? -?\d+(?:\.\d+)?$/, line)
  return Object.fromEntries(
    lines
      .filter((line) => !line.startsWith('#'))
      .map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)![0])]),
  )
}

test('the numbers tell of tasks, claims, returns, wake times and requests', async (t) => {
  const { at, hub, clock } = await hubHouse(t)
  const stop = new AbortController()
  const running = hub.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await running
  })
  const agent = { id: 'a', role: 'r', capabilities: [], workspace: 'w', source: 'CLI' as const }
  await hub.register(agent)
  const first = await hub.add({ prompt: 'x', workspace: 'w', by: 'user' })
  await hub.add({ prompt: 'y', workspace: 'w', by: 'user', needs: [first.id] })
  await clock.turn(2_000)
  const given = await hub.wait('a', clock.elapsed() + 1_000, new AbortController().signal)
  assert.equal(given.type, 'task')
  // No agent acknowledges the task, which then comes back.
  await clock.turn(31_000)
  await send(`${at.url}/api/me`, { headers: bearer('wrong') })
  const read = async () => samples((await send(`${at.url}/metrics`)).text)
  const name = (short: string) => `termaite_hub_${short}`
  const all = await until(async () => {
    const now = await read()
    return (
      now[name('wake_seconds_count')] === 1 &&
      now[name('http_requests_total{route="access",status="401"}')] === 1 &&
      now
    )
  })
  assert.deepEqual(
    ['build_info{version="1.2.3"}', 'tasks{state="QUEUED"}', 'claims_total', 'returns_total', 'waiting_agents'].map(
      (each) => all[name(each)],
    ),
    [1, 2, 1, 1, 0],
  )
  assert.deepEqual(
    [
      all[name('wake_seconds_bucket{le="1"}')],
      all[name('wake_seconds_bucket{le="2.5"}')],
      all[name('wake_seconds_sum')],
    ],
    [0, 1, 2],
  )
  assert.ok(all[name('oldest_waiting_task_seconds')]! <= 33)
  await hub.register({ ...agent, machine: 'm7' })
  await hub.operators.set('m7', { limit: 1 })
  await hub.wait('a', clock.elapsed() + 1_000, new AbortController().signal)
  await hub.operators.pause(wholeHub, { by: 'anna' })
  await hub.operators.pause('n', { by: 'anna' })
  await hub.operators.pauseAgent('a', { by: 'anna' })
  const ordered = await read()
  assert.deepEqual(
    ['paused{of="hub"}', 'paused{of="machines"}', 'paused{of="agents"}', 'full_machines'].map((each) => [
      all[name(each)],
      ordered[name(each)],
    ]),
    [
      [0, 1],
      [0, 1],
      [0, 1],
      [0, 1],
    ],
  )
  assert.ok(all[name('rounds_total')]! >= 3)
  assert.equal(all[name('ledger_errors_total')], 0)
})

test('the numbers need a key, except from this machine itself', async (t) => {
  const { at, keys } = await hubHouse(t, { publicOrigin: 'https://hub.example' })
  const { secret } = await keys.add('prometheus', 'observer', user)
  const status = async (headers: Record<string, string>) => (await send(`${at.url}/metrics`, { headers })).status
  const through = { host: 'hub.example', 'x-forwarded-for': '203.0.113.9' }
  assert.deepEqual(
    [
      await status({}),
      await status({ ...through }),
      await status({ host: 'hub.example' }),
      await status({ 'x-forwarded-for': '203.0.113.9' }),
      await status({ origin: 'http://127.0.0.1:1' }),
      await status({ host: 'evil.example' }),
      await status({ ...through, ...bearer(secret) }),
      await status({ ...through, ...bearer('wrong') }),
    ],
    [200, 401, 401, 401, 401, 403, 200, 401],
  )
  assert.equal((await send(`${at.url}/metrics`, { method: 'POST' })).status, 405)
})

test('a scraper at an address that the settings name needs no key', { skip: withoutNetwork }, async (t) => {
  const front = { host: '0.0.0.0', publicOrigin: 'https://hub.example', proxies: AddressRanges.read('192.0.2.1') }
  const { port } = await hubHouse(t, { ...front, metricsFrom: AddressRanges.read(outerAddress!) })
  assert.equal((await send(`http://${outerAddress}:${port}/metrics`)).status, 200)
  assert.equal((await send(`http://${outerAddress}:${port}/api/me`, { headers: bearer() })).status, 403)
})

test('a hub that cannot write is not ready, and tells its operator why once; the answer to a probe names no file', async (t) => {
  const { at, ledger, clock, hub, faults } = await hubHouse(t)
  const ready = async () => {
    await clock.turn(1_000)
    const { status, text } = await send(`${at.url}/readyz`)
    return [status, text]
  }
  const { round } = ledger
  const full = async () => {
    throw new StoreError('cannot write /var/hub/hub.db: the disk is full')
  }
  ledger.round = full
  await assert.rejects(hub.add({ prompt: 'x', workspace: 'w', by: 'user' }), StoreError)
  const seen = [await ready(), await ready()]
  ledger.round = round
  seen.push(await ready())
  // SQLite has room in its own files for a while, so that the disk itself is looked at too.
  ledger.freeBytes = () => 4_096
  seen.push(await ready())
  ledger.freeBytes = () => 1e9
  seen.push(await ready())
  golden(t, { seen, faults })
})

test('a hub without its database says so to everybody who asks, keeps streams open, and goes on by itself', async (t) => {
  const { at, ledger, clock, hub } = await hubHouse(t)
  const stream = await fetch(`${at.url}/api/events`, { headers: bearer() })
  const read = stream.body!.getReader()
  await read.read()
  const { withHash, all } = ledger.keys
  const away = async () => {
    throw new LedgerAway('the connection was refused')
  }
  ledger.keys.withHash = away
  ledger.keys.all = away
  const told = async (path: string) => {
    const { status, text, headers } = await send(`${at.url}${path}`, { headers: bearer() })
    return [status, headers['retry-after'], text.trim()]
  }
  golden(t, await told('/readyz'))
  assert.deepEqual(await told('/healthz'), [200, undefined, 'The hub runs.'])
  golden(t, await told('/api/me'))
  const { round } = ledger
  ledger.round = away
  await assert.rejects(hub.add({ prompt: 'x', workspace: 'w', by: 'user' }), LedgerAway)
  ledger.round = round
  // The regular look at the keys of open requests finds no ledger, and cuts nobody.
  await clock.turn(30_000)
  ledger.keys.withHash = withHash
  ledger.keys.all = all
  assert.equal((await told('/readyz'))[0], 200)
  await hub.add({ prompt: 'x', workspace: 'w', by: 'user' })
  let heard = ''
  while (!heard.includes('event: task')) heard += new TextDecoder().decode((await read.read()).value)
  const errors = (await send(`${at.url}/metrics`)).text
  assert.match(errors, /^termaite_hub_ledger_errors_total 2$/m)
})

test('a route that finds no database answers with 503, and when to come back', async (t) => {
  const { at, ledger } = await hubHouse(t)
  ledger.keys.all = async () => {
    throw new LedgerAway('it is starting')
  }
  const { status, headers, body } = await send(`${at.url}/api/keys`, { headers: bearer() })
  assert.deepEqual([status, headers['retry-after']], [503, '5'])
  golden(t, body.error)
})

test('every act of a client is kept: who, by which key, from where, what, on what, and how it ended', async (t) => {
  const { at, keys, audit, trail, clock, hub } = await hubHouse(t, { publicOrigin: 'https://hub.example' })
  const anna = await keys.add('anna', 'member', user)
  const ci = await keys.add('ci', 'agent', user)
  const post = (path: string, secret: string, body: object, headers: Record<string, string> = {}) =>
    send(`${at.url}${path}`, { method: 'POST', headers: { ...bearer(secret), ...headers }, body })
  const through = { host: 'hub.example', 'x-forwarded-for': '1.1.1.1, 203.0.113.9' }
  const prompt = 'a prompt that nobody else may read'
  const added = await post('/api/tasks', anna.secret, { prompt, workspace: 'w' }, through)
  const { id } = added.body as { id: string }
  await post('/api/agents', ci.secret, { role: 'r', capabilities: [], workspace: 'w', source: 'CLI' })
  await post('/api/agents/ci/wait', ci.secret, { timeout: 0 })
  await post(`/api/tasks/${id}/approve`, ci.secret, {})
  await post(`/api/tasks/${id}/approve`, anna.secret, {})
  await post('/api/agents/ci/status', ci.secret, { machine: 'm' })
  await send(`${at.url}/api/tasks`, { headers: bearer(anna.secret) })
  await send(`${at.url}/api/keys`, { headers: bearer(anna.secret) })
  await post('/api/keys', 'the-key', { name: 'bo', role: 'observer' })
  await post('/api/keys', 'wrong', { name: 'bo', role: 'observer' })
  await post(`/api/tasks/${encodeURIComponent('=cmd|x'.padEnd(500, '!'))}/cancel`, anna.secret, {})
  await trail.flush()
  const rows = await audit.page({ most: 99 })
  assert.ok(rows.every(({ at: when }) => when === clock.now()))
  const bo = (await keys.list()).find(({ name }) => name === 'bo')!.id
  assert.deepEqual(
    rows.map(({ by, key, role, address, act, on, outcome, status }) =>
      [by, key, role, address, act, on, outcome, status].join(' '),
    ),
    [
      `anna ${anna.key.id} member 203.0.113.9 tasks add ${id} done 200`,
      `ci ${ci.key.id} agent 127.0.0.1 agents add ci done 200`,
      `ci ${ci.key.id} agent 127.0.0.1 tasks claim ${id} done 200`,
      `ci ${ci.key.id} agent 127.0.0.1 tasks approve ${id} refused 403`,
      `anna ${anna.key.id} member 127.0.0.1 tasks approve ${id} failed 409`,
      `anna ${anna.key.id} member 127.0.0.1 keys read  refused 403`,
      `user own admin 127.0.0.1 keys add ${bo} done 200`,
      `anna ${anna.key.id} member 127.0.0.1 tasks cancel ${'=cmd|x'.padEnd(128, '!')} failed 404`,
    ],
  )
  const kept = JSON.stringify(rows)
  for (const secret of [prompt, anna.secret, ci.secret, 'the-key', 'wrong']) assert.ok(!kept.includes(secret), secret)
  assert.equal((await hub.task(id)).state, 'PENDING_ACK')

  const page = async (query: string, key = 'the-key') => send(`${at.url}/api/audit?${query}`, { headers: bearer(key) })
  const two = (await page('limit=2')).body as { acts: { number: number }[]; after: number }
  assert.deepEqual([two.acts.length, two.after], [2, two.acts[1]!.number])
  assert.deepEqual(((await page(`limit=99&after=${two.after}`)).body as typeof two).acts.length, rows.length - 2)
  assert.deepEqual(((await page('by=ci')).body as typeof two).acts.length, 3)
  assert.equal((await page('', anna.secret)).status, 403)
  assert.equal((await page('after=-1')).status, 400)
})

test('an audit that cannot be written is told once, keeps nobody from working, and is written later', async (t) => {
  const told: string[] = []
  const house = await hubHouse(t)
  const { AuditTrail } = await import('../../../src/hub/engine/audit-trail.ts')
  const { audit, clock } = house
  let isFull = true
  const book = {
    ...audit,
    add: async (acts: Parameters<typeof audit.add>[0]) => {
      if (isFull) throw new Error('the disk is full')
      await audit.add(acts)
    },
  }
  const trail = new AuditTrail({ book, clock, tell: (words) => told.push(words) })
  const act = (on: string) => trail.note({ caller: user, act: 'keys add', on, status: 200 })
  await act('a')
  await act('b')
  isFull = false
  await act('c')
  golden(t, told)
  assert.deepEqual(
    (await audit.page({ most: 9 })).map(({ on }) => on),
    ['a', 'b', 'c'],
  )
  // Acts of agents are written before they are answered, too.
  await trail.note({ caller: { id: 'k', name: 'ci', role: 'agent' }, act: 'tasks ack', on: 'd', status: 200 })
  assert.equal((await audit.page({ most: 9 })).length, 4)
})

test('a page is told at once that the disk of the ledger is nearly full, a program that follows changes is not', async (t) => {
  let free = 0.5e9
  const house = await hubHouse(t, {
    disk: (signal) => new LedgerDisk({ freeBytes: () => free }, house.clock).follow(signal),
  })
  const { at, clock } = house
  const follow = async (query: string) => {
    const answer = await fetch(`${at.url}/api/events?after=0${query}`, { headers: { authorization: 'Bearer the-key' } })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const over = (async () => {
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value
    })()
    t.after(async () => {
      await reader.cancel()
      await over
    })
    return { text: () => text }
  }
  const [page, program] = [await follow('&turns'), await follow('')]
  const told = () =>
    [...page.text().matchAll(/^event: disk\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as object)
  const full = { full: { since: clock.now(), free } }
  await until(() => told().length === 1)
  free = 2e9
  await clock.turn(30_000)
  await until(() => told().length === 2)
  assert.deepEqual(told(), [full, {}])
  assert.ok(!program.text().includes('disk'))
})
