import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { realClock } from '../../../../src/base/time/clock.ts'
import { ServerOutput, StdioTransport } from '../../../../src/native/tools/mcp/stdio-transport.ts'
import { processTable } from '../../../../src/base/process/process-table.ts'
import { tempFolder } from '../../../store/temp.ts'
import { answering, opened, ready, scripted, use } from './rig.ts'
import { goldenOf } from '../../../golden.ts'

const golden = goldenOf(import.meta.filename)

for (const era of ['legacy', 'modern'] as const)
  test(`a ${era} server over its own pipes`, async (t) => {
    const open = await ready(t, [scripted('s', { era, banner: 'Welcome!' }, { TOKEN: 'abcdefgh' })])
    const [status] = open.status().servers
    assert.equal(status!.protocol, era === 'legacy' ? '2025-06-18' : '2026-07-28')
    assert.deepEqual([status!.state, status!.tools.length, status!.speaker], ['ready', 12, 'scripted 1.0'])

    await t.test('text comes as text, structure as data under a name of its own', async () => {
      assert.equal(await use(open, 'mcp__s__echo', { text: 'hello' }), 'hello')
      const structured = { sum: 3 }
      assert.deepEqual(await use(open, 'mcp__s__sum'), { text: '{\n  "sum": 3\n}', data: { structured } })
    })

    await t.test('pictures and blobs come as files, the rest in words', async () => {
      const output = await use(open, 'mcp__s__draw')
      assert.ok(typeof output === 'object')
      assert.deepEqual(output.text.split('\n\n'), [
        ...['Here it is.', '[image: image/png, 3 bytes]', '[file:///a.txt]\ninside a'],
        ...['[file:///b.bin: application/octet-stream, 3 bytes]', '[c: file:///c.txt]'],
      ])
      assert.deepEqual(
        output.files?.map(({ media, bytes }) => [media, bytes]),
        [
          ['image/png', 3],
          ['application/octet-stream', 3],
        ],
      )
    })

    await t.test("a failure of a tool is reported in the server's own words", async () => {
      assert.equal(await use(open, 'mcp__s__fail'), '! The moon is closed.')
    })

    await t.test('a question of the server is put to the person', async () => {
      const { questions, ask } = answering(['blue'], ['termaite:skip'])
      const text = await use(open, 'mcp__s__ask', {}, { ask })
      assert.deepEqual(JSON.parse(text as string), { action: 'accept', content: { colour: 'blue', size: 3 } })
      assert.deepEqual(
        questions.map(({ text, free, options }) => [text, free, options.map(({ label }) => label)]),
        [
          ['The MCP server s asks: Which colour?\ncolour', undefined, ['red', 'blue', 'Do not answer']],
          ['The MCP server s asks: Which colour?\nsize', true, ['Keep 3', 'Do not answer']],
        ],
      )
      const nobody = await use(open, 'mcp__s__ask')
      assert.deepEqual(JSON.parse(nobody as string), { action: 'decline' })
    })

    await t.test('progress is shown, and a cancel reaches the server', async () => {
      const leaving = new AbortController()
      const shown: string[] = []
      const progress = (delta: string) => {
        shown.push(delta)
        leaving.abort()
      }
      assert.equal(
        await use(open, 'mcp__s__wait', {}, { signal: leaving.signal, progress }),
        '! the call was cancelled',
      )
      assert.deepEqual(shown, ['half (1/2)\n'])
      assert.equal(await use(open, 'mcp__s__heard'), 'wait')
    })

    await t.test('the server has the variables of its configuration, and none of our own keys', async () => {
      assert.equal(await use(open, 'mcp__s__env', { name: 'TOKEN' }), 'abcdefgh')
      assert.equal(await use(open, 'mcp__s__env', { name: 'HOME' }), '/nowhere')
      assert.equal(await use(open, 'mcp__s__env', { name: 'SECRET_OF_OURS' }), 'not set')
    })

    await t.test('a server that ends is reported, and started again', async () => {
      const ended = await use(open, 'mcp__s__die')
      assert.match(ended as string, /^! the MCP server s stopped during this call \(out of coffee; it ended with 3\)/)
      const gone = await use(open, 'mcp__s__echo', { text: 'x' })
      assert.match(
        gone as string,
        /^! the MCP server s is not running \(out of coffee; it ended with 3\)\. It is restarted/,
      )
      assert.deepEqual(
        open.status().servers.map(({ state, why }) => [state, why]),
        [['waiting', 'out of coffee; it ended with 3']],
      )
      assert.match(open.status().servers[0]!.output, /^(Welcome!\n)+out of coffee$/)
    })
  })

test('an older server learns where the project is, and does not get our model', async (t) => {
  const root = tempFolder(t)
  const open = await ready(t, [scripted('s')], { root })
  const roots = await use(open, 'mcp__s__roots')
  assert.deepEqual(JSON.parse(roots as string), { roots: [{ uri: `file://${root}`, name: 'project' }] })
  golden(t, JSON.parse((await use(open, 'mcp__s__sample')) as string))
})

test('a list that grew is listed anew', async (t) => {
  const grown = Promise.withResolvers<void>()
  const changed = () => {
    if (open.tools().some(({ name }) => name === 'mcp__s__grown')) grown.resolve()
  }
  const open = opened(t, [scripted('s')], { changed })
  await open.settled(t.signal)
  await use(open, 'mcp__s__grow')
  await grown.promise
  assert.equal(await use(open, 'mcp__s__grown'), 'I am grown.')
})

test('a server that cannot be started, dies at once or never answers delays no other', async (t) => {
  const nowhere = { ...scripted('nowhere'), command: '/nowhere/at/all' }
  const dead = scripted('dead', { dead: 'bad key abcdefgh' }, { KEY: 'abcdefgh' })
  const mute = { ...scripted('mute', { mute: true }), timeoutSeconds: 0.2 }
  const open = opened(t, [nowhere, dead, mute, scripted('fine')])
  assert.deepEqual(open.tools(), [])
  await open.settled(t.signal)
  assert.deepEqual(
    open.status().servers.map(({ name, state, why }) => [name, state, why]),
    [
      [
        'nowhere',
        'failed',
        `/nowhere/at/all was not found, or there is no folder ${nowhere.kind === 'stdio' ? nowhere.cwd : ''}`,
      ],
      ['dead', 'waiting', 'bad key ***; it ended with 1'],
      ['mute', 'waiting', 'it did not answer within 0.2 s'],
      ['fine', 'ready', undefined],
    ],
  )
  assert.equal(await use(open, 'mcp__fine__echo', { text: 'x' }), 'x')
})

test('a call that takes too long is given up, and its server is told', async (t) => {
  const open = await ready(t, [{ ...scripted('s'), timeoutSeconds: 5 }])
  const until = Date.now() + 50
  golden(t, await use(open, 'mcp__s__wait', {}, { until }))
  assert.equal(await use(open, 'mcp__s__heard'), 'wait')
})

test('closing lets a server shut down itself, and refreshing begins anew with the present configuration', async (t) => {
  const farewell = join(tempFolder(t), 'farewell')
  const open = await ready(t, [scripted('a', { farewell })])
  await open.refresh({ servers: [scripted('b')], warnings: ['one thing'] })
  assert.equal(readFileSync(farewell, 'utf8'), 'gone')
  await open.settled(t.signal)
  const { servers, warnings } = open.status()
  assert.deepEqual([servers.map(({ name, state }) => [name, state]), warnings], [[['b', 'ready']], ['one thing']])
  await open.close()
  golden(t, await use(open, 'mcp__b__echo', { text: 'x' }))
})

test('a server that does not exit is ended, with all its processes', async (t) => {
  const stubborn = join(tempFolder(t), 'pids')
  const open = await ready(t, [scripted('s', { stubborn })])
  const pids = JSON.parse(readFileSync(stubborn, 'utf8')) as number[]
  await open.close()
  const left = (await processTable()).filter(({ pid }) => pids.includes(pid))
  assert.deepEqual([pids.length, left], [2, []])
})

test('the wall of a server that cannot be started is taken down', async () => {
  let settled = 0
  const config = { kind: 'stdio' as const, command: 'server', args: [], cwd: '/', env: {} }
  const transport = new StdioTransport(config, {}, realClock, new ServerOutput(), async (_config, _argv, env) => ({
    argv: ['/no/such/wall'],
    env,
    settle: async () => (settled++, []),
  }))
  await assert.rejects(transport.start(), { code: 'ENOENT' })
  assert.equal(settled, 1)
})
