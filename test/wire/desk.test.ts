import { test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closings, folderOf, replies, sitDown } from './desk.ts'

const options = { timeout: 60_000 }

test('a prompt is a turn: its events are told, then its closing line, then how things stand', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { good: 'cat >/dev/null; echo new >> file; echo fine' })
  assert.deepEqual(
    heard.map(({ type }) => type),
    ['opened', 'standing'],
  )
  desk.submit('do it')
  await until((all) => closings(all).length === 1)
  await desk.idle()
  assert.deepEqual(replies(heard), ['fine'])
  const [{ ms, turn, tokens, ...closing }] = closings(heard) as [ReturnType<typeof closings>[0]]
  assert.deepEqual(closing, {
    by: 'good',
    why: 'next in line',
    changed: { files: 1, added: 1, removed: 0 },
    source: 'estimated',
  })
  assert.deepEqual([ms > 0, turn.length > 10, tokens! > 0], [true, true, true])
  const { agents, next, tokens: all } = desk.standing()
  assert.deepEqual(
    { next, all, names: agents.map(({ name, state }) => [name, state]) },
    {
      next: 'good',
      all: { used: tokens, source: 'estimated' },
      names: [['good', 'ready']],
    },
  )
})

test('what is typed while a turn runs waits, can be taken back, and is the next turn', options, async (t) => {
  const folder = folderOf(t)
  const go = join(folder, 'go')
  const { desk, heard, until } = await sitDown(t, folder, {
    slow: `read -r line; until [ -e ${go} ]; do sleep 0.02; done; echo "heard $line"`,
  })
  desk.submit('one')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'prompt'))
  desk.submit('two')
  desk.submit('three')
  assert.equal(desk.takeBack(), 'three')
  writeFileSync(go, '')
  await until((all) => closings(all).length === 2)
  const queues = heard.flatMap((one) => (one.type === 'queue' ? [one.texts] : []))
  assert.deepEqual(queues, [['two'], ['two', 'three'], ['two'], []])
  assert.equal(replies(heard).length, 2)
})

test('a cancelled turn gives back what was typed meanwhile', options, async (t) => {
  const folder = folderOf(t)
  const { desk, heard, until } = await sitDown(t, folder, { hung: 'sleep 600' })
  const filled: string[] = []
  const none = async () => ''
  desk.seatedAt({
    suspend: (work) => work(),
    copy: none,
    clear() {},
    palette() {},
    exit() {},
    fill: (text) => void filled.push(text),
  })
  desk.submit('one')
  await until((all) => all.some((one) => one.type === 'event' && one.event.type === 'prompt'))
  desk.submit('two')
  assert.equal(desk.cancel(), true)
  await desk.idle()
  assert.deepEqual(filled, ['two'])
  assert.deepEqual(
    heard.flatMap((one) =>
      one.type === 'event' && one.event.type === 'end' && !one.event.outcome.ok ? [one.event.outcome.failure.kind] : [],
    ),
    ['aborted'],
  )
  assert.equal(desk.cancel(), false)
})

test('a conversation that goes on is shown, and where it was left is said in three lines', options, async (t) => {
  const folder = folderOf(t)
  const agents = { good: 'cat >/dev/null; echo fine' }
  const first = await sitDown(t, folder, agents)
  first.desk.submit('the last request')
  await first.until((all) => closings(all).length === 1)
  await first.desk.idle()
  const { heard, desk, until } = await sitDown(t, folder, agents)
  await until((all) => all.filter(({ type }) => type === 'said').length === 2)
  const [opened] = heard
  assert.deepEqual(opened?.type === 'opened' && opened.entries.map(({ type }) => type), [
    'prompt',
    'reply',
    'usage',
    'end',
  ])
  const said = heard.flatMap((one) => (one.type === 'said' ? [one.text] : []))
  assert.deepEqual(
    said.map((text) => text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'then')),
    ['Last request (then): the last request', 'Ready: good.'],
  )
  assert.deepEqual(await desk.past(), ['the last request'])
})
