import type { TurnChange } from '../../../src/core/turns/machine-turns.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { parser, string } from '../../../src/core/data/shape.ts'
import { about, recorder } from '../../contract/peer.ts'
import { TcpProxy } from '../../tcp-proxy.ts'
import { until } from '../../until.ts'
import { linkingHub, linkMachine, person, scriptedMachine } from './link-rig.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Reads a terminal as a viewer does: a picture, and then the output. */
async function view(open: () => Promise<import('../../../src/core/screen/terminal.ts').Terminal | undefined>) {
  const terminal = (await open())!
  const { at, text } = await terminal.paint(0)
  const seen = { text, over: false }
  void (async () => {
    for await (const { bytes } of terminal.output(at)) seen.text += Buffer.from(bytes).toString()
    seen.over = true
  })()
  return { terminal, seen }
}

test('a machine links, and its turns, cards and terminals are served at the hub under its name', async (t) => {
  const hub = await linkingHub(t)
  const build = scriptedMachine(t, 'build-7')
  await build.start('crew-1')
  await hub.own.start('here')
  const { told } = linkMachine(t, build, { url: hub.url, key: await hub.keyFor('build-7') })
  await until(() => hub.links.reach('build-7'))
  assert.deepEqual(
    hub.links.standings().map(({ machine, online, own }) => [machine, online, own]),
    [
      ['build-7', true, undefined],
      ['desk', true, true],
    ],
  )
  golden(t, await until(() => told[0]), { [hub.url]: '<url>' })
  assert.deepEqual(
    (await hub.terminals.list()).map(({ id, machine }) => [id, machine]),
    [
      ['here', 'desk'],
      ['build-7/crew-1', 'build-7'],
    ],
  )

  const changes: TurnChange[] = []
  const leave = new AbortController()
  t.after(() => leave.abort())
  void (async () => {
    for await (const change of hub.turns.follow(leave.signal)) changes.push(change)
  })()
  const reach = recorder(['q1'])
  const turn = build.running.begin({ ...about, prompt: 'use sk-secret', turn: 't1', session: 's1' }, reach)
  turn.see({
    type: 'question',
    ask: 'q1',
    question: { about: 'choice', text: 'which?', from: [], options: [{ id: 'a', label: 'A' }] },
    by: 'claude',
  })
  const row = await until(() => hub.turns.rows().find((each) => each.asks.length > 0))
  assert.deepEqual(row, {
    turn: 'build-7/t1',
    session: 'build-7/s1',
    prompt: 'use …',
    since: 7,
    machine: 'build-7',
    asks: [
      {
        ask: 'q1',
        at: row.asks[0]!.at,
        question: { about: 'choice', text: 'which?', from: [], options: [{ id: 'a', label: 'A' }] },
      },
    ],
  })
  assert.equal(await hub.turns.answer('build-7/t1', 'q1', ['a'], person), true)
  assert.equal(await hub.turns.answer('build-7/t1', 'q1', ['a'], person), false)
  assert.equal(await hub.turns.steer('build-7/t1', 'go left', person), true)
  assert.equal(await hub.turns.cancel('build-7/t1', person), true)
  assert.deepEqual(reach.wishes, [['answer', 'q1', ['a']], ['steer', 'go left'], ['cancel']])
  turn.end()
  await until(() => changes.some((change) => change.type === 'turn-over' && change.turn === 'build-7/t1'))

  const { seen } = await view(() => hub.terminals.open('build-7/crew-1'))
  assert.match(seen.text, /hello from crew-1/)
  for (const key of ['a', 'b', 'c']) void hub.terminals.type('build-7/crew-1', { as: 'keys', text: key }, person)
  await until(() => seen.text.includes('got "c"'))
  assert.deepEqual(build.typed, ['a', 'b', 'c'])
  await hub.terminals.type('build-7/crew-1', { as: 'keys', text: 'quit' }, person)
  await until(() => seen.over)
  assert.equal(await hub.terminals.open('build-7/none'), undefined)
})

test('a machine decides its offers itself, whatever the hub asks for', async (t) => {
  const hub = await linkingHub(t)
  const build = scriptedMachine(t, 'build-7', { onlyReading: true })
  await build.start('crew-1')
  linkMachine(t, build, { url: hub.url, key: await hub.keyFor('build-7'), offers: ['turns', 'terminals'] })
  const far = await until(() => hub.links.reach('build-7'))
  const [row] = (await hub.terminals.list()).filter(({ machine }) => machine === 'build-7')
  assert.equal(row!.onlyReading, true)
  await golden.rejects(t, far.type('crew-1', { as: 'keys', text: 'x' }, person))
  await golden.rejects(t, far.cancel('t1', person))
  await golden.rejects(t, far.prompt({ text: 'x' }, person))
  await golden.rejects(t, far.page('s1', {}))
  assert.deepEqual(build.typed, [])
})

test('a machine behind a bad network is linked again, and a viewer goes on with a new picture', async (t) => {
  const hub = await linkingHub(t)
  const proxy = await TcpProxy.to(t, hub.port)
  const build = scriptedMachine(t, 'build-7')
  await build.start('crew-1')
  proxy.delayMs = 20
  linkMachine(t, build, { url: `http://127.0.0.1:${proxy.port}`, key: await hub.keyFor('build-7') })
  const first = await until(() => hub.links.reach('build-7'))
  const { seen } = await view(() => hub.terminals.open('build-7/crew-1'))
  proxy.cut()
  await until(() => seen.over)
  await until(() => hub.links.reach('build-7') === undefined || hub.links.reach('build-7') !== first)
  const second = await until(() => {
    const far = hub.links.reach('build-7')
    return far !== first && far
  })
  assert.notEqual(first, second)
  build.ttys.get('crew-1')!.print('after the cut\r\n')
  const again = await view(() => hub.terminals.open('build-7/crew-1'))
  await until(() => again.seen.text.includes('after the cut'))
  // While the network is away, the machine has been offline since a known time.
  proxy.refuses = true
  proxy.cut()
  const away = await until(() => hub.links.standings().find(({ machine, online }) => machine === 'build-7' && !online))
  assert.ok(Date.now() - away.since < 60_000)
  await assert.rejects(hub.turns.cancel('build-7/t1', person), {
    message: /^build-7 has been offline since \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Nothing was sent\.$/,
  })
  proxy.refuses = false
  await until(() => hub.links.reach('build-7'))
})

test('a flood of one terminal does not starve a card, and holds little memory at a slow reader', async (t) => {
  const hub = await linkingHub(t)
  const proxy = await TcpProxy.to(t, hub.port)
  proxy.bytesPerSecond = 2_000_000
  const build = scriptedMachine(t, 'build-7')
  await build.start('crew-1')
  await build.start('crew-2')
  linkMachine(t, build, { url: `http://127.0.0.1:${proxy.port}`, key: await hub.keyFor('build-7') })
  const far = await until(() => hub.links.reach('build-7'))
  const flooded = (await hub.terminals.open('build-7/crew-1'))!
  // No reader takes this output after its first piece.
  const stuck = flooded.output(0)[Symbol.asyncIterator]()
  t.after(() => stuck.return?.())
  assert.equal((await stuck.next()).done, false)
  const busy = await view(() => hub.terminals.open('build-7/crew-1'))
  for (let line = 0; line < 200; line++) build.ttys.get('crew-1')!.print(`${line} ${'x'.repeat(40_000)}\r\n`)
  await until(() => busy.seen.text.length > 500_000)
  const reach = recorder()
  build.running.begin({ ...about, turn: 't9' }, reach)
  const leave = new AbortController()
  t.after(() => leave.abort())
  const rows = far.turns(leave.signal)
  // The card comes while the flood goes on, long before its end.
  assert.equal((await rows.next()).done, false)
  assert.ok(busy.seen.text.length < 8_000_000, 'the flood was over before the card came')
  assert.match((await (await hub.terminals.open('build-7/crew-2'))!.screen()).rows[0]!, /hello from crew-2/)
})

test('the name of a machine belongs to the key and the machine that linked first', async (t) => {
  const hub = await linkingHub(t)
  const [key, other] = [await hub.keyFor('build-7'), await hub.keyFor('thief')]
  const build = scriptedMachine(t, 'build-7')
  const link = linkMachine(t, build, { url: hub.url, key })
  const first = await until(() => hub.links.reach('build-7'))
  // Another key on another machine is refused in words.
  const thief = linkMachine(t, scriptedMachine(t, 'build-7'), { url: hub.url, key: other, proof: 'another machine' })
  await until(() => thief.told[0])
  golden(t, thief.told)
  // The hub's own name is nobody else's.
  const own = linkMachine(t, scriptedMachine(t, 'desk'), { url: hub.url, key: other, proof: 'another machine' })
  await until(() => own.told[0])
  golden(t, own.told)
  // A process of the hub's own home needs no link.
  const same = linkMachine(t, scriptedMachine(t, 'desk'), { url: hub.url, key: other })
  await until(() => same.told[0])
  golden(t, same.told)
  // The same machine under another key is let in, and the newer link wins.
  const again = linkMachine(t, scriptedMachine(t, 'build-7'), { url: hub.url, key: other })
  await until(() => link.told[1])
  golden(t, link.told.slice(1))
  assert.notEqual(hub.links.reach('build-7'), first)
  // An admin frees the name of a machine that is offline, and of no other.
  const forget = () =>
    fetch(`${hub.url}/api/machines/build-7/forget`, { method: 'POST', headers: { authorization: 'Bearer the-key' } })
  assert.equal((await forget()).status, 409)
  await again.end()
  await link.end()
  await until(() => hub.links.standings().some(({ machine, online }) => machine === 'build-7' && !online))
  assert.equal((await forget()).status, 200)
  assert.deepEqual(
    hub.links.standings().map(({ machine }) => machine),
    ['desk'],
  )
})

test('keys without the right link no machine, and a key that ends cuts the link of its machine', async (t) => {
  const hub = await linkingHub(t)
  const reader = linkMachine(t, scriptedMachine(t, 'reader'), {
    url: hub.url,
    key: await hub.keyFor('reader', 'observer'),
  })
  const stranger = linkMachine(t, scriptedMachine(t, 'stranger'), { url: hub.url, key: 'no-key-of-this-hub-at-all' })
  await until(() => reader.told[0] && stranger.told[0])
  golden(t, reader.told[0]!, { [hub.url]: '<url>' })
  golden(t, stranger.told[0]!, { [hub.url]: '<url>' })
  const build = linkMachine(t, scriptedMachine(t, 'build-7'), { url: hub.url, key: await hub.keyFor('build-7') })
  await until(() => hub.links.reach('build-7'))
  await hub.keys.revoke('build-7', person)
  await until(() => hub.links.reach('build-7') === undefined)
  await until(() => build.told.length > 1)
  golden(t, build.told[1])
})

test('a machine carries out the work that it registered, checked on both sides, and explains each refusal', async (t) => {
  const hub = await linkingHub(t)
  const build = scriptedMachine(t, 'build-7')
  const greet = {
    name: 'greet',
    input: parser({ name: string({ min: 1 }) }),
    output: parser({ words: string() }),
    mostMs: 5_000,
  }
  build.work.register(greet, async ({ name }, { by }) => {
    if (name === 'nobody') throw new Error('There is nobody to greet.')
    if (name === 'liar') return { words: 7 } as never
    return { words: `${by.name} greets ${name}` }
  })
  const link = linkMachine(t, build, { url: hub.url, key: await hub.keyFor('build-7') })
  await until(() => hub.links.reach('build-7'))
  const ask = (name: string, kind = greet) =>
    hub.work.ask('build-7', kind, { name }, { by: { name: 'ann', role: 'member' } })
  assert.deepEqual(await hub.work.withWork('greet'), ['build-7'])
  assert.deepEqual(await ask('bob'), { words: 'ann greets bob' })
  await assert.rejects(ask('nobody'), { name: 'WorkRefused', message: 'There is nobody to greet.' })
  await assert.rejects(ask('liar'), { name: 'WorkRefused', message: 'words must be a string, not 7.' })
  await assert.rejects(ask(''), { name: 'WorkRefused', message: /name must be/ })
  await golden.rejects(t, ask('x', { ...greet, name: 'other' }))
  await golden.rejects(t, ask('x'.repeat(600_000)))
  await link.end()
  await until(() => !hub.links.reach('build-7'))
  await until(() => hub.links.standings().some(({ machine, online }) => machine === 'build-7' && !online))
  await assert.rejects(ask('bob'), { name: 'MachineAway', message: /^build-7 has been offline since / })
  await golden.rejects(t, hub.work.ask('nowhere', greet, { name: 'x' }, { by: person }))
})
