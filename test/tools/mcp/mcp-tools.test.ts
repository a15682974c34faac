import type { ServerConfig } from '../../../src/tools/mcp/server-config.ts'
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openServers } from '../../../src/tools/mcp/remote-servers.ts'
import { toolContract } from '../../contract/tool.ts'
import { opened, partsOf, ready, scripted, use } from './rig.ts'

const shared = openServers({ servers: [scripted('one')], warnings: [] }, partsOf())
after(() => shared.close())

const make = (name: string) => async () => {
  await shared.settled(new AbortController().signal)
  return { tool: shared.find(name)!, cwd: '/' }
}
toolContract('a remote tool', { make: make('mcp__one__echo'), good: { text: 'x' }, bad: ['x', [], {}] })
toolContract('mcp_tools', {
  make: make('mcp_tools'),
  good: { server: 'one' },
  bad: [3, { server: 3 }, { tool: 'echo' }],
})
toolContract('mcp_call', {
  make: make('mcp_call'),
  good: { server: 'one', tool: 'echo', input: { text: 'x' } },
  bad: [
    3,
    {},
    { server: 'two', tool: 'echo' },
    { server: 'one', tool: 'eko', input: {} },
    { server: 'one', tool: 'echo' },
  ],
})

test('a model sees servers, then their tools, then one of them, and calls it', async (t) => {
  const open = await ready(t, [
    scripted('one'),
    { ...scripted('gone'), command: '/nowhere/at/all', cwd: '/' } as ServerConfig,
  ])
  assert.equal(
    await use(open, 'mcp_tools'),
    'one: echo, sum, draw, fail, wait, heard, ask, sample, roots, env, die, grow\n' +
      'gone: the MCP server gone cannot be used (/nowhere/at/all was not found, or there is no folder /). ' +
      'Go on without it; /mcp shows the person more.',
  )
  const tools = (await use(open, 'mcp_tools', { server: 'one' })) as string
  assert.deepEqual(tools.split('\n').slice(0, 3), ['Ask me for the moon.', '', '- echo: Says again what it is told.'])
  assert.equal(
    await use(open, 'mcp_tools', { server: 'one', tool: 'mcp__one__echo' }),
    'Says again what it is told.\n\nInput: {"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}',
  )
  assert.equal(await use(open, 'mcp_call', { server: 'one', tool: 'echo', input: { text: 'hi' } }), 'hi')
  assert.equal(await use(open, 'mcp_call', { server: 'one', tool: 'echo', input: '{"text":"hi"}' }), 'hi')
})

test('a slip of the name is put right in words', async (t) => {
  const open = await ready(t, [scripted('one')])
  const wrong = (name: string, input: unknown) => {
    try {
      open.find(name)!.parse(input)
      return 'no fault'
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.deepEqual(
    [
      await use(open, 'mcp_tools', { server: 'oen' }),
      await use(open, 'mcp_tools', { server: 'one', tool: 'eco' }),
      wrong('mcp_call', { server: 'xyz', tool: 'echo' }),
      wrong('mcp_call', { server: 'one', tool: 'quite-another' }).slice(0, 69),
      wrong('mcp_call', { server: 'one', tool: 'echo', input: {} }),
      wrong('mcp__one__echo', { test: 'x' }),
    ],
    [
      '! there is no MCP server oen; did you mean one?',
      '! the MCP server one has no tool eco; did you mean echo?',
      'there is no MCP server xyz; the servers are: one.',
      'the MCP server one has no tool quite-another; its tools are: echo, su',
      'text is missing; it takes text.',
      'text is missing; it takes text.',
    ],
  )
})

test('a call to one that is still starting waits for it', async (t) => {
  const open = opened(t, [scripted('one')])
  assert.equal(await use(open, 'mcp_call', { server: 'one', tool: 'echo', input: { text: 'hi' } }), 'hi')
})

test('a tool that a resumed session knows is waited for, and its absence said', async (t) => {
  const open = opened(t, [scripted('one'), scripted('dead', { dead: 'no licence' })])
  assert.equal(await use(open, 'mcp__one__echo', { text: 'hi' }), 'hi')
  assert.equal(await use(open, 'mcp__two__echo', { text: 'hi' }), 'no tool mcp__two__echo')
  const gone = await use(open, 'mcp__one__gone')
  assert.equal(gone, '! the MCP server one no longer has this tool; see mcp_tools')
  const dead = (await use(open, 'mcp__dead__echo')) as string
  assert.match(dead, /^! the MCP server dead is not running \(no licence; it ended with 1\)\./)
})

test('a server with too many tools is not put into every request; what is not there is told by name', async (t) => {
  const open = await ready(t, [scripted('many', { more: 40 }), scripted('few')])
  const names = open.tools().map(({ name }) => name)
  assert.deepEqual([names.length, names[0], names[1], names[2]], [14, 'mcp_tools', 'mcp_call', 'mcp__few__echo'])
  assert.deepEqual(
    open.status().servers.map(({ name, direct }) => [name, direct]),
    [
      ['many', false],
      ['few', true],
    ],
  )
  const { text, tools } = open.news(new Set(names))!
  const news = text.split('\n')
  assert.equal(news[0], 'More tools of MCP servers can be called with mcp_call; mcp_tools describes them:')
  assert.match(news[1]!, /^- many: echo, sum, .*, more_0, more_1, .*, more_39$/)
  assert.equal(news.length, 2)
  assert.equal(await use(open, 'mcp__many__more_7'), 'I am more_7.')
  const all = new Set([...names, ...open.status().servers[0]!.tools.map(({ name }) => name)])
  assert.deepEqual(
    tools,
    open.status().servers[0]!.tools.map(({ name }) => name),
  )
  assert.equal(open.news(all), undefined)
})

test('without a server there is no tool', (t) => {
  assert.deepEqual(opened(t, []).tools(), [])
})

test('a rule for a tool holds for mcp_call too, however it was named', async (t) => {
  const open = await ready(t, [scripted('one')])
  const tool = open.find('mcp_call')!
  assert.equal(tool.ruleName!(tool.parse({ server: 'one', tool: 'mcp__one__sum', input: {} })), 'mcp__one__sum')
  assert.equal(tool.ruleName!({ server: 'my git', tool: 'push', input: {} }), 'mcp__my_git__push')
})
