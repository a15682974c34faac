import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { HubClient } from '../../src/hub/client/hub-client.ts'
import { HubRefused } from '../../src/hub/engine/remote-hub.ts'
import { sized } from '../full.ts'
import { until } from '../until.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { machineAtWork } from './agent-machine.ts'
import { startedHub } from './hub.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

/** Runs `termaite hub keys`. */
const keysOf =
  (machine: Machine, env: Record<string, string> = {}) =>
  (...args: string[]) =>
    machine.run(['hub', 'keys', ...args], { env })

const names = (json: string) => (JSON.parse(json) as { name: string }[]).map(({ name }) => name)

/** Everything that the hub has on its disk, as one text. */
const onDisk = ({ home }: Machine) =>
  readdirSync(home)
    .filter((name) => name.startsWith('hub.db'))
    .map((name) => readFileSync(join(home, name), 'latin1'))
    .join('\n')

const refusal = (work: Promise<unknown>): Promise<number | string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof HubRefused ? error.status : String(error)),
  )

test('keys from the shell, before the hub runs and while it does: the same book', options, async (t) => {
  const machine = new Machine(t)
  const before = keysOf(machine)
  const added = await before('add', 'anna', '--role', 'member')
  golden(t, [added.code, added.err])
  const anna = added.out.trimEnd()
  assert.match(anna, /^tmk_[\w-]{43}$/)
  const { env, url } = await startedHub(t, machine)
  assert.deepEqual(await new HubClient({ url, key: anna }).me().then(({ name, role }) => [name, role]), [
    'anna',
    'member',
  ])
  const keys = keysOf(machine, env)
  const made = JSON.parse((await keys('add', 'ci', '--json')).out) as { name: string; role: string; key: string }
  assert.deepEqual([made.name, made.role], ['ci', 'agent'])
  const shown = (await keys()).out
  assert.match(
    shown.replaceAll(/key-[0-9a-f]{8}/g, 'key-12345678').replaceAll(/\d\d:\d\d/g, '00:00'),
    /^NAME  ROLE    ID            MADE   LAST USED  MADE BY\nuser  admin   own           00:00             this machine \(in hub\.key\)\nanna  member  key-12345678  00:00  00:00      user\nci    agent   key-12345678  00:00             user\n$/,
  )
  assert.ok(shown.split('\n').every((line) => line.length <= 80))
  const rotated = await keys('rotate', 'anna')
  assert.match(
    rotated.err,
    /^The old key of anna still works until \d\d:\d\d\.\nThe key of anna \(member\)\. It is shown only once/,
  )
  const kept = rotated.out.trimEnd()
  const stands = (key: string) => refusal(new HubClient({ url, key }).me())
  assert.deepEqual([await stands(anna), await stands(kept)], ['done', 'done'])
  assert.match((await keys()).out, / ENDS +MADE BY\n[^]*\nanna .* old key: \d\d:\d\d +user\n/)
  const next = (await keys('rotate', 'anna', '--grace', '0')).out.trimEnd()
  assert.deepEqual([await stands(anna), await stands(kept), await stands(next)], [401, 401, 'done'])
  const brief = await keys('add', 'brief', '--expires', '90d', '--json')
  const { made: began, ends } = JSON.parse(brief.out) as { made: number; ends: number }
  assert.equal(ends - began, 90 * 86_400_000)
  golden(t, (await keys('add', 'x', '--expires', 'soon')).err)
  golden(t, (await keys('add', 'x', '--grace', '1h')).err)
  await keys('revoke', 'brief')
  const ended = await keys('revoke', 'anna')
  assert.deepEqual([ended.code, ended.err, await stands(next)], [0, 'The key of anna (member) no longer works.\n', 401])
  assert.deepEqual(names((await keys('list', '--json')).out), ['user', 'ci'])
  for (const secret of [anna, kept, next, made.key])
    assert.ok(!onDisk(machine).includes(secret), 'a secret is on the disk')
  for (const name of readdirSync(machine.home)) assert.equal(statSync(join(machine.home, name)).mode & 0o077, 0, name)
})

test('the person’s own key can be replaced while the hub runs, and only then the old one ends', options, async (t) => {
  const machine = new Machine(t)
  const { env, url, key } = await startedHub(t, machine)
  const { code, err, out } = await keysOf(machine, env)('rotate', 'user')
  const file = join(machine.home, 'hub.key')
  golden(t, [code, out, err], { [machine.folder]: '<machine>' })
  assert.equal(await refusal(new HubClient({ url, key }).me()), 401)
  const { code: works } = await machine.run(['task', 'list'], { env })
  assert.deepEqual(
    [works, statSync(file).mode & 0o777, readdirSync(machine.home).filter((name) => name.includes('hub.key'))],
    [0, 0o600, ['hub.key']],
  )
})

test('a wrong call about keys is explained, with its exit code', options, async (t) => {
  const machine = new Machine(t)
  const { env, agent, hub, url } = await startedHub(t, machine)
  const keys = keysOf(machine, env)
  const member = (await hub.operators.addKey('anna', 'member')).secret
  await agent('orc')
  const said = async (run: Promise<{ code: number | null; err: string; out: string }>) => {
    const { code, err, out } = await run
    assert.equal(out, '')
    return `${code} ${err.trimEnd()}`
  }
  golden(
    t,
    [
      await said(keys('add')),
      await said(keys('add', 'a', 'b')),
      await said(keys('add', 'anna')),
      await said(keys('add', 'x', '--role', 'king')),
      await said(keys('revoke', 'nobody')),
      await said(keys('revoke', 'user')),
      await said(keys('dance')),
      await said(keys('revoke', 'orc', '--role', 'agent')),
      await said(machine.call(['hub', 'dance'], { env })),
      await said(keysOf(machine, { ...env, TERMAITE_HUB_KEY: member })('add', 'bob', '--role', 'admin')),
      await said(keysOf(machine)('--server', 'http://127.0.0.1:1')),
      // Once the hub's own note is lost, the hub is not found, and its ledger is in use.
      await said((rmSync(join(machine.home, 'run'), { recursive: true }), keysOf(machine)('list'))),
    ],
    { [machine.folder]: '<machine>' },
  )
  assert.equal((await keysOf(machine)('list', '--server', url)).code, 0)
})

test('many processes at once: a name is given once and ended once, and every other one is kept', options, async (t) => {
  const machine = new Machine(t)
  const book = async (env: Record<string, string>) => {
    const keys = keysOf(machine, env)
    const codes = async (...calls: string[][]) =>
      (await Promise.all(calls.map((call) => keys(...call)))).map(({ code }) => code).toSorted()
    const own = ['a', 'b', 'c'].map((name) => ['add', name])
    assert.deepEqual(await codes(['add', 'one'], ['add', 'One'], ['add', 'ONE'], ...own), [0, 0, 0, 0, 1, 1])
    assert.deepEqual(await codes(['revoke', 'one'], ['rotate', 'a'], ['revoke', 'one'], ['revoke', 'b']), [0, 0, 0, 1])
    assert.deepEqual(names((await keys('--json')).out).toSorted(), ['a', 'c', 'user'])
    assert.deepEqual(await codes(['revoke', 'a'], ['revoke', 'c']), [0, 0])
  }
  await book({})
  await book((await startedHub(t, machine)).env)
})

test(
  'a hub that is killed while keys are added has every key that it answered, and opens for each',
  options,
  async (t) => {
    const machine = new Machine(t)
    let { child, url, hub } = await startedHub(t, machine)
    const answered: string[] = []
    for (let life = 0; life < sized(2, 4); life++) {
      const adding = Array.from({ length: 8 }, async (_, at) => {
        for (let turn = 0; ; turn++)
          answered.push((await hub.operators.addKey(`key${life}.${at}.${turn}`, 'observer')).secret)
      })
      const wanted = answered.length + 20
      await until(() => answered.length >= wanted)
      child.kill('SIGKILL')
      await Promise.all([once(child, 'exit'), ...adding.map((each) => each.catch(() => {}))])
      ;({ child, url, hub } = await startedHub(t, machine))
    }
    const opened = await Promise.all(answered.map((key) => new HubClient({ url, key }).me().then(({ role }) => role)))
    assert.deepEqual(new Set(opened), new Set(['observer']))
    assert.equal(
      new Set((await hub.operators.keys()).map(({ name }) => name)).size,
      (await hub.operators.keys()).length,
    )
  },
)

test('a key file that is open to others is refused in words, and is left alone', options, async (t) => {
  const machine = new Machine(t)
  mkdirSync(machine.home, { recursive: true })
  const file = join(machine.home, 'hub.key')
  const text = `tmk_${'x'.repeat(43)}\n`
  writeFileSync(file, text)
  chmodSync(file, 0o644)
  for (const args of [
    ['serve', '--port', '0'],
    ['hub', 'keys'],
    ['task', 'list'],
  ]) {
    const { code, err } = await machine.call(args)
    assert.equal(code, 2, args.join(' '))
    golden(t, err.trimEnd(), { [machine.folder]: '<machine>' })
  }
  assert.equal(readFileSync(file, 'utf8'), text)
})

test('a key file that is empty or cut short is set aside, and the next start makes a key', options, async (t) => {
  const machine = new Machine(t)
  mkdirSync(machine.home, { recursive: true })
  const file = join(machine.home, 'hub.key')
  for (const text of ['', 'tmk_half']) {
    writeFileSync(file, text, { mode: 0o600 })
    const { code, err } = await machine.call(['hub', 'keys'])
    assert.equal(code, 0, err)
    assert.match(err, /hub\.key was damaged\. It was set aside as \S+\.broken, and a new one is made\.$/m)
    assert.match(readFileSync(file, 'utf8'), /^tmk_[\w-]{43}\n$/)
  }
})

test('requests without a key keep nobody out, and the hub prints no key', options, async (t) => {
  const machine = new Machine(t)
  const child = machine.start(['serve', '--port', '0'], { env: { TERMAITE_DEBUG: '1' } })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  const url = await until(() => /^http:\S+$/m.exec(said)?.[0])
  const own = readFileSync(join(machine.home, 'hub.key'), 'utf8').trim()
  const hub = new HubClient({ url, key: own })
  const { secret } = await hub.operators.addKey('anna', 'member')
  const wrong = `tmk_${'w'.repeat(43)}`
  const before = performance.now()
  const guesses = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      fetch(`${url}${at % 2 === 0 ? '/api/state' : '/mcp'}?key=${wrong}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${wrong}` },
      }),
    ),
  )
  // The tenth begins a wait of one second, and each that is let through after a wait begins one that is twice as long.
  const waits = Math.floor(Math.log2((performance.now() - before) / 1000 + 1))
  const known = guesses.filter(({ status }) => status === 401).length
  assert.ok(known >= 10 && known <= 10 + waits, `${known} of the guesses were looked at, with time for ${waits} waits`)
  assert.deepEqual([...new Set(guesses.map(({ status }) => status))].toSorted(), [401, 429])
  const bodies = await Promise.all(guesses.map((answer) => answer.text()))
  assert.ok(Number(guesses.find(({ status }) => status === 429)!.headers.get('retry-after')) >= 1)
  for (const key of [own, secret]) assert.equal(await refusal(new HubClient({ url, key }).me()), 'done')
  // On a busy machine the wait may be over; the next wrong key begins a longer one.
  await until(async () => (await refusal(new HubClient({ url, key: wrong }).me())) === 429)
  await refusal(new HubClient({ url, key: secret }).tell('nope', 'approve'))
  for (const key of [own, secret, wrong]) assert.ok(![said, ...bodies].join('\n').includes(key), 'a key was told')
})

test('a key that ends cuts the wait and the stream that began with it', options, async (t) => {
  const machine = new Machine(t)
  const { hub, agent, url } = await startedHub(t, machine)
  const orc = await agent('orc')
  await orc.register({ id: 'orc', role: 'dev', capabilities: [], workspace: 'w', source: 'CLI' })
  const waiting = orc.wait('orc', 290, t.signal).then(String, (error: Error) => error.name)
  const { secret } = await hub.operators.addKey('watcher', 'observer')
  const following = (async () => {
    for await (const _ of new HubClient({ url, key: secret }).changes(0, t.signal));
  })().then(String, (error: Error) => error.constructor.name)
  await until(async () => (await hub.agent('orc')).waits)
  await hub.operators.revokeKey('orc')
  await hub.operators.revokeKey('watcher')
  assert.deepEqual([await waiting, await following], ['Error', 'HubAway'])
  const { id } = await hub.add({ prompt: 'for nobody', workspace: 'w' })
  assert.equal((await hub.task(id)).state, 'QUEUED')
  assert.equal(await refusal(orc.wait('orc', 1, t.signal)), 401)
})

test('a session of MCP belongs to the key that began it', options, async (t) => {
  const machine = new Machine(t)
  const { hub, url } = await startedHub(t, machine)
  const [boss, orc] = [(await hub.operators.addKey('boss', 'member')).secret, (await hub.lend('orc')).secret]
  const send = (key: string, message: object, session?: string) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const begun = await send(boss, { id: 1, method: 'initialize', params })
  const session = begun.headers.get('mcp-session-id')!
  await begun.text()
  await send(boss, { method: 'notifications/initialized' }, session)
  const call = {
    id: 2,
    method: 'tools/call',
    params: { name: 'assign_task', arguments: { prompt: 'x', workspaceId: 'w' } },
  }
  assert.deepEqual([(await send(orc, call, session)).status, await hub.tasks()], [404, []])
  const answer = await send(orc, call)
  golden(t, await answer.text())
  assert.deepEqual(await hub.tasks(), [])
  assert.equal((await send(boss, call, session)).status, 200)
  assert.deepEqual(
    (await hub.tasks()).map(({ history }) => history[0]!.by),
    ['boss'],
  )
})

/** A machine whose fake CLI writes down the environment and the list of processes that it was started with. */
async function machineAtWorkWatched(t: TestContext) {
  const at = await machineAtWork(t)
  const seen = join(at.machine.folder, 'seen')
  const settings = JSON.parse(readFileSync(join(at.machine.home, 'settings.json'), 'utf8'))
  settings.agents.fake.command = `sh -c 'ps -eo args > ${seen}.ps; env > ${seen}; exec ${settings.agents.fake.command}'`
  at.machine.settings(settings)
  return { ...at, seen }
}

test(
  'an agent has a key of its own for its run, cannot approve its work with it, and leaves none behind',
  options,
  async (t) => {
    const { hub, machine, seen, start, session, folder, add, settled, env } = await machineAtWorkWatched(t)
    const serving = start(['agent', '--start=fake', '--here', '--yes'])
    const id = await add('Say more.')
    const file = await until(() =>
      existsSync(seen) ? /^TERMAITE_HUB_FILE=(.+)$/m.exec(readFileSync(seen, 'utf8'))?.[1] : undefined,
    )
    const { hubId, id: sessionId } = session()
    assert.equal(file, join(folder('sessions'), sessionId, 'agent-key'))
    const own = readFileSync(join(machine.home, 'hub.key'), 'utf8').trim()
    const key = await until(() => existsSync(file) && readFileSync(file, 'utf8').trim())
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const inside = readFileSync(seen, 'utf8') + readFileSync(`${seen}.ps`, 'utf8')
    assert.ok(!inside.includes(own) && !inside.includes(key), 'a key is in the environment or the list of processes')
    const agent = new HubClient({ url: hub.url, key })
    assert.deepEqual(await agent.me().then(({ name, role }) => [name, role]), [hubId, 'agent'])
    // The agent's own shell has the agent's key, also where the person's key is in the environment.
    const asAgent = { ...env, TERMAITE_HUB_FILE: file, TERMAITE_HUB_KEY: own }
    const [task] = await settled([id])
    assert.equal(task!.agent, hubId)
    for (const verb of ['approve', 'cancel']) {
      const { code, err } = await machine.call(['task', verb, id], { env: asAgent })
      assert.equal(code, 1)
      assert.match(err, new RegExp(`${hubId} has the role agent and may not`))
    }
    assert.equal(await refusal(agent.lend('another')), 403)
    serving.child.kill('SIGTERM')
    await once(serving.child, 'exit')
    assert.deepEqual([existsSync(file), await refusal(agent.me())], [false, 401])
    assert.deepEqual(
      (await hub.operators.keys()).map(({ name }) => name),
      ['user'],
    )
  },
)

test(
  'an agent that turns its session’s folder into a link to our home gets no other key, and nothing there changes',
  options,
  async (t) => {
    const { hub, machine, seen, start, session, folder, env } = await machineAtWorkWatched(t)
    const first = start(['agent', '--start=fake', '--here', '--yes'])
    const file = await until(() =>
      existsSync(seen) ? /^TERMAITE_HUB_FILE=(.+)$/m.exec(readFileSync(seen, 'utf8'))?.[1] : undefined,
    )
    await until(() => existsSync(file) && session().hubId !== undefined)
    const own = readFileSync(join(machine.home, 'hub.key'), 'utf8')
    const place = join(folder('sessions'), session().id)
    const text = readFileSync(join(place, 'session.json'), 'utf8')
    renameSync(place, `${place}.old`)
    symlinkSync(machine.home, place)
    first.child.kill('SIGTERM')
    await once(first.child, 'exit')
    writeFileSync(join(machine.home, 'session.json'), text.replace(/"owner": "[^"]*"/, '"owner": ""'))
    const { code, err } = await machine.call(['agent', '--start=fake', '--here', '--yes', '--resume'], { env })
    assert.equal(code, 1)
    golden(t, err, { [machine.folder]: '<machine>', [place]: '<place>' })
    assert.deepEqual(
      [readFileSync(join(machine.home, 'hub.key'), 'utf8'), existsSync(join(machine.home, 'agent-key'))],
      [own, false],
    )
    assert.equal(await refusal(hub.me()), 'done')
  },
)

test('behind the wall an agent reads its own key and not the person’s', { ...options, skip: noSandbox }, async (t) => {
  const { machine, start, session } = await machineAtWork(t)
  const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
  const { command } = settings.agents.fake as { command: string }
  const probe = `until [ -s "$TERMAITE_HUB_FILE" ]; do sleep 0.1; done; cat "$TERMAITE_HUB_FILE" ${machine.home}/hub.key > half 2>&1; mv half probe`
  settings.agents.fake = { ...settings.agents.fake, wall: true, command: `sh -c '${probe}; exec ${command}'` }
  machine.settings(settings)
  const own = readFileSync(join(machine.home, 'hub.key'), 'utf8').trim()
  // The project and our own home lie in the person's home, as they do for most.
  const serving = start(['agent', '--start=fake', '--yes'], { HOME: machine.folder })
  await until(() => serving.said().includes('reading its instructions'))
  const file = join(session().cwd, 'probe')
  const [key, ...rest] = (await until(() => existsSync(file) && readFileSync(file, 'utf8'))).trimEnd().split('\n')
  assert.match(key!, /^tmk_[\w-]{43}$/)
  assert.notEqual(key, own)
  assert.deepEqual(rest, [`cat: ${machine.home}/hub.key: No such file or directory`])
  serving.child.kill('SIGTERM')
  await once(serving.child, 'exit')
})

test('the acts of clients at the hub are shown, and exported as JSON lines and CSV', options, async (t) => {
  const machine = new Machine(t)
  await keysOf(machine)('add', 'early', '--role', 'member')
  const { env } = await startedHub(t, machine)
  const secret = (await keysOf(machine, env)('add', 'anna', '--role', 'member')).out.trimEnd()
  await machine.call(['task', 'add', 'a prompt that nobody else may read'], { env })
  const refused = await machine.call(['hub', 'keys', 'add', 'x'], { env: { ...env, TERMAITE_HUB_KEY: secret } })
  assert.equal(refused.code, 1)
  const audit = (...args: string[]) => machine.call(['hub', 'audit', ...args], { env })
  const { out } = await audit()
  assert.match(
    out,
    /^WHEN +WHO +ROLE +ACT +ON +OUTCOME +FROM\n\S+ +user +admin +keys add +key-\w+ +done *\n\S+ +user +admin +keys add +key-\w+ +done +127\.0\.0\.1\n\S+ +user +admin +tasks add +\S+ +done +127\.0\.0\.1\n\S+ +anna +member +keys add +refused +127\.0\.0\.1\n$/,
  )
  const rows = (await audit('--json', '--by', 'anna')).out.trimEnd().split('\n')
  assert.deepEqual(
    rows
      .map((row) => JSON.parse(row) as { by: string; act: string; outcome: string; status: number })
      .map(({ by, act, outcome, status }) => [by, act, outcome, status]),
    [['anna', 'keys add', 'refused', 403]],
  )
  const csv = (await audit('--csv')).out.trimEnd().split('\n')
  assert.deepEqual([csv[0], csv.length], ['number,at,by,key,role,address,act,on,outcome,status', 5])
  assert.match(csv[1]!, /^1,\d{4}-\d\d-\d\dT[\d:.]+Z,user,own,admin,,keys add,key-\w+,done,200$/)
  golden(t, (await audit('--json', '--csv')).err)
  golden(t, (await audit('--since', '2020-01-01', '--by', 'nobody')).err)
  for (const text of [out, csv.join('\n')]) assert.ok(!text.includes('nobody else may read') && !text.includes(secret))
})
