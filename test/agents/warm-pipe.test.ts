import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Enclose } from '../../src/agents/enclosure.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import { answered, chatting, entriesOf, staying } from './warm-rig.ts'
import { running } from './pipe-rig.ts'
import { until } from '../until.ts'

const limit = { timeout: 30_000 }

/** Takes two turns; whether the same process took both, and what the second answer says of its start. */
async function twice(chat: ReturnType<typeof chatting>, first: Parameters<typeof chat.take>, second: typeof first) {
  const one = answered(await chat.take(...first))
  const two = answered(await chat.take(...second))
  await chat.close()
  if (typeof one === 'string' || typeof two === 'string') return { one, two }
  return { same: one.pid === two.pid, said: two.said }
}

test('the next turns are taken by the same process, and the chat leaves none behind', limit, async () => {
  const chat = chatting()
  const all = [await chat.take('one'), await chat.take('two calls'), await chat.take('three')].map(answered)
  const pid = all.map((one) => (typeof one === 'string' ? one : one.pid))
  assert.deepEqual([new Set(pid).size, (await running()).length > 0], [1, true])
  assert.deepEqual(
    all.map((one) => typeof one === 'string' || one.said),
    ['prompt 1 all fresh any alone', 'prompt 2 all fresh any alone', 'prompt 3 all fresh any alone'],
  )
  await chat.close()
  assert.deepEqual(await running(), [])
})

test('the facts of a further turn are those of a first one', limit, async () => {
  const chat = chatting()
  const types = (events: readonly { type: string }[]) => events.map(({ type }) => type)
  const one = await chat.take('one')
  const two = await chat.take('two')
  await chat.close()
  assert.deepEqual(
    [types(one), types(two)],
    [
      ['thread', 'reply', 'usage', 'end'],
      ['thread', 'reply', 'usage', 'end'],
    ],
  )
})

test('without a pool each turn has a process of its own', limit, async () => {
  assert.deepEqual(await twice(chatting({}, { warm: undefined }), ['one'], ['two']), {
    same: false,
    said: 'prompt 1 all k any alone',
  })
  assert.deepEqual(await running(), [])
})

test('no turn runs in a process that was started for another leash', limit, async () => {
  const leashes: Leash[] = ['read', 'ask', 'edit', 'all']
  const pairs = leashes.flatMap((from) => leashes.filter((to) => to !== from).map((to) => [from, to] as const))
  const found = await Promise.all(
    pairs.map(([from, to]) => twice(chatting(), ['one', { seat: from }], ['two', { seat: to }])),
  )
  assert.deepEqual(
    found,
    pairs.map(([, to]) => ({ same: false, said: `prompt 1 ${to} k any alone` })),
  )
})

test('what is fixed at the start of a process is the same for every turn that it takes', limit, async () => {
  const changes: Parameters<ReturnType<typeof chatting>['take']>[1][] = [
    { spec: { model: 'other' } },
    { spec: { env: { OTHER: 'variable' } } },
    { cwd: '/' },
    { attended: true },
  ]
  for (const change of changes)
    assert.deepEqual([change, (await twice(chatting(), ['one'], ['two', change])).same], [change, false])
})

test('a turn that somebody else took on the thread is not missed: the process is stopped', limit, async () => {
  const chat = chatting()
  const one = answered(await chat.take('one'))
  chat.rewrite((entries) => [
    ...entries,
    ...entriesOf('elsewhere', 'two', [
      { type: 'thread', key: 'k' },
      { type: 'reply', text: 'from another process' },
      { type: 'end', outcome: { ok: true, text: 'from another process' } },
    ]),
  ])
  const two = answered(await chat.take('three'))
  await chat.close()
  assert.ok(typeof one !== 'string' && typeof two !== 'string')
  assert.deepEqual([one.pid === two.pid, two.said], [false, 'prompt 1 all k any alone'])
})

test('after a reset the agent begins a new thread in a new process', limit, async () => {
  const chat = chatting()
  const one = answered(await chat.take('one'))
  chat.rewrite(() => [])
  const two = answered(await chat.take('two'))
  await chat.close()
  assert.ok(typeof one !== 'string' && typeof two !== 'string')
  assert.deepEqual([one.pid === two.pid, two.said], [false, 'prompt 1 all fresh any alone'])
})

test('the agent learns what others did meanwhile, and its process goes on', limit, async () => {
  const chat = chatting()
  const one = answered(await chat.take('one'))
  chat.rewrite((entries) => [
    ...entries,
    ...entriesOf('other', 'two', [
      { type: 'reply', text: 'of another agent', by: 'other' },
      { type: 'end', outcome: { ok: true, text: 'of another agent' } },
    ]),
  ])
  const two = answered(await chat.take('three'))
  await chat.close()
  assert.ok(typeof one !== 'string' && typeof two !== 'string')
  assert.deepEqual([one.pid === two.pid, two.said], [true, 'prompt 2 all fresh any alone'])
})

test('a process is not kept if its turn left a process running, and that one is stopped with it', limit, async () => {
  assert.deepEqual((await twice(chatting(), ['child'], ['two'])).same, false)
  const chat = chatting()
  await chat.take('child')
  assert.deepEqual(await running(), [])
  await chat.close()
})

test('a yes that lasts until the turn ends does not last longer', limit, async () => {
  const once = { ask: async () => ['once'] }
  const turn = { ask: async () => ['turn'] }
  assert.deepEqual(
    [(await twice(chatting(), ['asks', once], ['two'])).same, (await twice(chatting(), ['asks', turn], ['two'])).same],
    [true, false],
  )
})

test('a process that gave no answer is stopped with its turn', limit, async () => {
  for (const prompt of ['fails', 'dies']) {
    const chat = chatting()
    const failure = answered(await chat.take(prompt))
    assert.deepEqual([typeof failure, await running()], ['string', []])
    await chat.close()
  }
})

test('a process that is stopped is stopped with its turn', limit, async () => {
  const chat = chatting()
  const stop = new AbortController()
  const taken = chat.take('hangs', { signal: stop.signal })
  await until(async () => (await running()).some((one) => one.includes('sleep 76')))
  stop.abort()
  const events = await taken
  assert.deepEqual([answered(events), await running()], ['sayer was cancelled', []])
  await chat.close()
})

test('a process that died between two turns is replaced without a word', limit, async () => {
  const chat = chatting()
  const one = answered(await chat.take('leaves'))
  await until(async () => (await running()).length === 0)
  const events = await chat.take('two')
  await chat.close()
  const two = answered(events)
  assert.ok(typeof one !== 'string' && typeof two !== 'string')
  assert.deepEqual([two.said, events.filter(({ type }) => type === 'note')], ['prompt 1 all k any alone', []])
})

test('a process that closed its input takes no prompt: another one does, without a word', limit, async () => {
  const chat = chatting()
  const one = answered(await chat.take('deaf'))
  const events = await chat.take('two')
  await chat.close()
  const two = answered(events)
  assert.ok(typeof one !== 'string' && typeof two !== 'string')
  assert.deepEqual([one.pid === two.pid, two.said], [false, 'prompt 1 all k any alone'])
})

test('a process that dies on its prompt fails like any other: the prompt is not sent twice', limit, async () => {
  const chat = chatting()
  await chat.take('one')
  const events = await chat.take('dies')
  await chat.close()
  assert.deepEqual(answered(events), 'no end, code 3')
})

test('a process that acts between two turns is stopped', limit, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'termaite-warm-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const gate = join(folder, 'gate')
  const chat = chatting({ env: { GATE: gate } })
  const one = answered(await chat.take('later'))
  const before = (await running()).length
  await writeFile(gate, 'go\n')
  await until(async () => (await running()).length === 0)
  const two = answered(await chat.take('two'))
  await chat.close()
  assert.ok(typeof one !== 'string' && typeof two !== 'string')
  assert.deepEqual([before > 0, two.said], [true, 'prompt 1 all k any alone'])
})

test('a process behind a wall takes one turn', limit, async () => {
  const settled: string[] = []
  const enclose: Enclose = async (argv) => ({ argv, vars: {}, settle: async () => [`settled ${settled.push('once')}`] })
  const chat = chatting({}, { enclose })
  const { same } = await twice(chat, ['one'], ['two'])
  assert.deepEqual([same, settled.length, await running()], [false, 2, []])
})

test('what was decided at the start of a process is settled at the end of each of its turns', limit, async () => {
  const settled: string[] = []
  let fixed = 'trusted'
  const enclose: Enclose = async (argv) => ({ argv, vars: {}, fixed, settle: async () => [`${settled.push(fixed)}`] })
  const chat = chatting({}, { enclose })
  const pids: unknown[] = []
  for (const now of ['trusted', 'trusted', 'no longer trusted']) {
    fixed = now
    const taken = answered(await chat.take(now))
    pids.push(typeof taken === 'string' ? taken : taken.pid)
  }
  await chat.close()
  assert.deepEqual([pids[0] === pids[1], pids[1] === pids[2]], [true, false])
  assert.deepEqual(settled, ['trusted', 'trusted', 'no longer trusted'])
})

test('an MCP server that is lent for one turn alone ends the process with it', limit, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'termaite-warm-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const server = { name: 's', command: 'c', args: [], env: {}, patient: { args: [], ms: 1 } }
  const lends = () => ({ words: '; : lent' })
  const profile = staying({ lends })
  const same = async (lasting: object) =>
    (await twice(chatting({ profile }, { lend: async () => ({ server, folder, ...lasting }) }), ['one'], ['two'])).same
  assert.deepEqual([await same({}), await same({ lasting: true })], [false, true])
})
