import { test } from 'node:test'
import assert from 'node:assert/strict'
import { diffText } from '../hub/engine/diff-text.ts'
import { once } from 'node:events'
import { until } from '../until.ts'
import { modelServer } from '../real/model-server.ts'
import { machineWithHub } from './agent-machine.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 120_000 }

test(
  'an unattended agent at leash ask warns about its questions, and its dialogs are answered at the hub',
  options,
  async (t) => {
    const server = await modelServer(({ body }) => {
      const said = JSON.stringify(body.messages)
      if (!said.includes('Make a file.')) return { text: 'ready' }
      if (said.includes('"name":"file_creator"')) return { text: 'It is made.' }
      return { call: { tool: 'file_creator', input: { file_path: 'made.txt', content: 'made\n' } } }
    })
    t.after(() => server.close())
    const own = { kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    const at = await machineWithHub(t, {
      leash: 'ask',
      agents: [{ name: 'own', ...own, contextWindowTokens: 200_000 }],
    })
    const env = { ANTHROPIC_API_KEY: 'made-up' }
    const agent = at.start(['agent', '--start=own'], env)
    const id = await at.add('Make a file.')
    const short = id.slice(-8)
    const list = async () => (await at.machine.run(['task', 'list'])).out
    await until(async () => /ASKING/.test(await list()))
    golden(
      t,
      agent
        .said()
        .split('\n')
        .filter((line) => /leash|task answer/.test(line)),
      { [short]: '<short>' },
    )
    const shown = (await at.machine.run(['task', 'show', short])).out
    assert.match(
      shown,
      new RegExp(`^Question: [^]*made\\.txt[^]*^  1 .*\n[^]*^Answer it: termaite task answer ${short} <number>$`, 'm'),
    )
    const wrong = await at.machine.run(['task', 'answer', short, 'perhaps'])
    assert.equal(wrong.code, 1)
    assert.match(wrong.err, /Found "perhaps", allowed: one of 1 /)
    assert.match(await list(), /ASKING/)
    assert.equal((await at.machine.run(['task', 'answer', short, '1'])).code, 0)
    const [task] = await at.settled([id])
    agent.child.kill('SIGTERM')
    await once(agent.child, 'exit')
    assert.deepEqual([task!.state, task!.result?.message], ['IN_REVIEW', 'It is made.'])
    assert.match(await diffText(at.hub, task!), /^\+made$/m)
    assert.deepEqual(
      task!.notes.map(({ kind, by }) => [kind, by]).filter(([kind]) => kind !== 'progress'),
      [
        ['question', task!.agent],
        ['answer', 'user'],
        ['response', task!.agent],
      ],
    )
    assert.equal((await at.hub.agents())[0]!.asks, undefined)
  },
)

test('a command of several lines is a question at the hub, whole', options, async (t) => {
  const command = 'touch one.txt\ntouch two.txt\nls -1 one.txt two.txt'
  const server = await modelServer(({ body }) => {
    const said = JSON.stringify(body.messages)
    if (!said.includes('Make the files.')) return { text: 'ready' }
    if (said.includes('"name":"bash"')) return { text: 'They are made.' }
    return { call: { tool: 'bash', input: { command } } }
  })
  t.after(() => server.close())
  const own = { kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  const at = await machineWithHub(t, {
    leash: 'ask',
    agents: [{ name: 'own', ...own, contextWindowTokens: 200_000 }],
  })
  const agent = at.start(['agent', '--start=own'], { ANTHROPIC_API_KEY: 'made-up' })
  const id = await at.add('Make the files.')
  const short = id.slice(-8)
  await until(async () => /ASKING/.test((await at.machine.call(['task', 'list'])).out))
  const shown = (await at.machine.call(['task', 'show', short])).out
  assert.match(
    shown,
    /^\$ touch one\.txt\n  touch two\.txt\n  ls -1 one\.txt two\.txt\n  in \/.*\n[^]*^  1 Yes, once \(allows it once\)\n  2 Yes, always in this project \(allows it every time; covers: .*\)\n  3 No \(refuses it\)$/m,
  )
  assert.equal((await at.machine.call(['task', 'answer', short, '1'])).code, 0)
  const [task] = await at.settled([id])
  agent.child.kill('SIGTERM')
  await once(agent.child, 'exit')
  assert.deepEqual([task!.state, task!.result?.message], ['IN_REVIEW', 'They are made.'])
})
