import type { ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A machine with one conversation, an agent that works until the file `go` is there, and a hub. */
async function atWork(t: TestContext, ...flags: string[]) {
  const machine = new Machine(t)
  const go = join(machine.folder, 'go')
  const heard = join(machine.folder, 'heard')
  machine.agents({
    quick: 'cat >/dev/null; echo fine',
    slow: `cat > ${heard}; echo "half of it"; while [ ! -e ${go} ]; do sleep 0.05; done; echo "the rest"`,
  })
  await machine.run(['-p', 'Begin', '-a', 'quick'])
  const serve = async () => {
    const child = machine.start(['serve', '--port', '0', ...flags])
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    return { child, url: String(line).trim() }
  }
  let hub = await serve()
  const ask = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const key = readFileSync(join(machine.home, 'hub.key'), 'utf8').trim()
    const response = await fetch(hub.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    })
    return [response.status, await response.json()] as const
  }
  const [, sessions] = await ask('GET', '/api/sessions')
  const { id } = sessions[0] as { id: string }
  return {
    machine,
    go: () => writeFileSync(go, ''),
    heard: () => existsSync(heard) && readFileSync(heard, 'utf8'),
    ask,
    id,
    kill: (signal: NodeJS.Signals) => ended(hub.child, signal),
    restart: async () => void (hub = await serve()),
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const over = once(child, 'exit')
  child.kill(signal)
  await over
}

/** The command lines of all processes of this machine, as `ps` shows them. */
const commandLines = () =>
  globSync('/proc/[0-9]*/cmdline').map((file) => {
    try {
      return readFileSync(file, 'utf8').replaceAll('\0', ' ')
    } catch {
      return ''
    }
  })

test('without --allow-prompts the hub starts nothing, and says how to allow it', options, async (t) => {
  const { ask, id, machine } = await atWork(t)
  assert.deepEqual(await ask('GET', '/api/prompts'), [200, { allowed: false, agents: [] }])
  golden(t, await ask('POST', '/api/prompts', { session: id, text: 'go' }))
  assert.equal(machine.history().filter(({ type }) => type === 'prompt').length, 1)
})

test('a prompt continues its session or begins a new one, and only where it may', options, async (t) => {
  const { ask, id, machine } = await atWork(t, '--allow-prompts')
  assert.deepEqual(await ask('GET', '/api/prompts'), [200, { allowed: true, agents: ['quick', 'slow'] }])
  assert.deepEqual(await ask('POST', '/api/prompts', { session: id, text: 'and "on" $(touch x)', agent: 'quick' }), [
    200,
    { session: id },
  ])
  const [, begun] = await ask('POST', '/api/prompts', { session: id, fresh: true, text: 'anew', agent: 'quick' })
  assert.notEqual(begun.session, id)
  const prompts = () => machine.history().flatMap((entry) => (entry.type === 'prompt' ? [entry] : []))
  await until(() => machine.history().filter(({ type }) => type === 'end').length === 3)
  assert.deepEqual(
    prompts().map(({ session, text }) => [session, text]),
    [
      [id, 'Begin'],
      [id, 'and "on" $(touch x)'],
      [begun.session, 'anew'],
    ],
  )
  assert.deepEqual(
    [
      await ask('POST', '/api/prompts', { session: 'none', text: 'x' }),
      await ask('POST', '/api/prompts', { project: 'none', text: 'x' }),
      await ask('POST', '/api/prompts', { session: id, text: 'x', agent: 'nobody' }),
      await ask('POST', '/api/prompts', { session: id, text: '  ' }),
    ],
    [
      [404, { error: 'There is no session none.' }],
      [404, { error: 'There is no project none.' }],
      [400, { error: 'agent: found "nobody", allowed: quick, slow.' }],
      [400, { error: 'The prompt is empty.' }],
    ],
  )
  mkdirSync(join(machine.project, '.termaite'))
  writeFileSync(join(machine.project, '.termaite', 'settings.json'), '{"leash": "all"}')
  const [status, { error }] = await ask('POST', '/api/prompts', { session: id, text: 'x' })
  golden(t, [status, error], { [machine.folder]: '<machine>' })
  assert.equal(prompts().length, 3)
  const [project] = (await ask('GET', '/api/projects'))[1] as { id: string }[]
  assert.equal((await ask('POST', '/api/prompts', { project: project!.id, text: 'x' }))[0], 409)
})

for (const signal of ['SIGINT', 'SIGKILL'] as const)
  test(
    `a turn from the page outlives the hub that gets ${signal}, is found again, and can be ended`,
    options,
    async (t) => {
      const { machine, ask, id, heard, go, kill, restart } = await atWork(t, '--allow-prompts')
      const text = 'A secret plan that no list of processes shows'
      assert.deepEqual(await ask('POST', '/api/prompts', { session: id, text, agent: 'slow' }), [200, { session: id }])
      await until(() => heard() !== false && heard() !== '')
      assert.match(String(heard()), new RegExp(text))
      if (process.platform === 'linux')
        assert.deepEqual(
          commandLines().filter((line) => line.includes(text)),
          [],
        )
      // A second prompt waits until the turn is over, and is seen meanwhile.
      await ask('POST', '/api/prompts', { session: id, text: 'and then this', agent: 'quick' })
      await kill(signal)
      const turns = JSON.parse((await machine.run(['ps', '--json'])).out) as { prompt: string; turn: string }[]
      assert.deepEqual(
        turns.map(({ prompt }) => prompt),
        [text, 'and then this'],
      )
      await restart()
      if (signal === 'SIGINT') {
        const stopped = await machine.run(['stop', turns[0]!.turn])
        assert.equal(stopped.code, 0, stopped.err)
      } else go()
      await until(() => machine.history().filter(({ type }) => type === 'end').length === 3)
      const said = machine.history().flatMap((entry) => ('text' in entry && entry.by === 'slow' ? [entry.text] : []))
      assert.match(said.join('\n'), signal === 'SIGINT' ? /half of it/ : /half of it\nthe rest/)
      await until(async () => JSON.parse((await machine.run(['ps', '--json'])).out).length === 1)
    },
  )
