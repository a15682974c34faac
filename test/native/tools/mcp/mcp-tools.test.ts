import type { ServerConfig } from '../../../../src/native/tools/mcp/server-config.ts'
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openServers } from '../../../../src/native/tools/mcp/remote-servers.ts'
import { toolContract } from '../../../contract/tool.ts'
import { opened, partsOf, ready, scripted, use } from './rig.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

const shared = openServers({ servers: [scripted('one')], warnings: [] }, partsOf())
after(() => shared.close())

const make = (name: string) => async () => {
  await shared.settled(new AbortController().signal)
  return { tool: shared.find(name)!, cwd: '/' }
}
toolContract('a remote tool', { make: make('mcp__one__echo'), good: { text: 'x' }, bad: ['x', [], {}] })

test('a server and its tools are listed in one line, and the server’s own description stands with each of its tools', async (t) => {
  const open = await ready(t, [
    scripted('one'),
    { ...scripted('gone'), command: '/nowhere/at/all', cwd: '/' } as ServerConfig,
  ])
  golden(t, open.lines())
  const text = (await open.text('one', t.signal))!
  assert.deepEqual(text.split('\n').slice(0, 3), [
    'Ask me for the moon.',
    '',
    '- mcp__one__echo: Says again what it is told.',
  ])
  await golden.rejects(t, open.text('gone', t.signal))
  assert.equal(await open.text('oen', t.signal), undefined)
})

test('the text about a server that is still starting waits for it', async (t) => {
  const open = opened(t, [scripted('one')])
  assert.match((await open.text('one', t.signal))!, /mcp__one__echo/)
})

test('a tool that a resumed session knows is waited for, and its absence is reported', async (t) => {
  const open = opened(t, [scripted('one'), scripted('dead', { dead: 'no licence' })])
  assert.equal(await use(open, 'mcp__one__echo', { text: 'hi' }), 'hi')
  assert.equal(await use(open, 'mcp__two__echo', { text: 'hi' }), 'no tool mcp__two__echo')
  const gone = await use(open, 'mcp__one__gone')
  golden(t, gone)
  const dead = (await use(open, 'mcp__dead__echo')) as string
  assert.match(dead, /^! the MCP server dead is not running \(no licence; it ended with 1\)\./)
})

test('a server with too many tools is not in every request; an unknown tool is answered with near names', async (t) => {
  const open = await ready(t, [scripted('many', { more: 40 }), scripted('few')])
  const names = open.tools().map(({ name }) => name)
  assert.deepEqual([names.length, names[0]], [12, 'mcp__few__echo'])
  assert.deepEqual(
    open.status().servers.map(({ name, direct }) => [name, direct]),
    [
      ['many', false],
      ['few', true],
    ],
  )
  const { text, tools } = open.news(new Set(names))!
  const news = text.split('\n')
  golden(t, news[0])
  assert.match(news[1]!, /^- many: mcp__many__echo, mcp__many__sum, .*, mcp__many__more_0, .*, mcp__many__more_39$/)
  assert.equal(news.length, 2)
  assert.equal(await use(open, 'mcp__many__more_7'), 'I am more_7.')
  const all = new Set([...names, ...open.status().servers[0]!.tools.map(({ name }) => name)])
  assert.deepEqual(
    tools,
    open.status().servers[0]!.tools.map(({ name }) => name),
  )
  assert.equal(open.news(all), undefined)
})

test('a required field with a default in its schema is filled in where a model leaves it out', async (t) => {
  const open = await ready(t, [scripted('one', { usual: 'as always' }), scripted('two')])
  assert.deepEqual(
    [await use(open, 'mcp__one__echo'), await use(open, 'mcp__one__echo', { text: 'hi' })],
    ['as always', 'hi'],
  )
  golden(t, await use(open, 'mcp__two__echo'))
})

test('without an MCP server there is no MCP tool', (t) => {
  assert.deepEqual(opened(t, []).tools(), [])
})
