import { test } from 'node:test'
import assert from 'node:assert/strict'
import { modelServer } from '../real/model-server.ts'
import { Machine } from './program.ts'

test('our own agent on a small model is given the newest turns that fit; the others keep their view', async (t) => {
  const server = await modelServer(() => ({ text: 'I see.' }))
  t.after(() => server.close())
  const machine = new Machine(t)
  const small = { name: 'small', kind: 'native', model: 'groq/small', baseURL: `${server.url}/v1` }
  const talker = `if grep -q LONG; then printf 'old %.0s' $(seq 12000); else echo fresh words; fi`
  machine.settings({
    metaInstruction: false,
    agents: [
      { name: 'talker', command: talker, contextWindowTokens: 1_000_000 },
      { ...small, contextWindowTokens: 12_000, ownView: true },
    ],
  })
  const run = async (...args: string[]) => {
    const { code, err } = await machine.run(['-p', ...args], { env: { GROQ_API_KEY: 'made-up-key' } })
    assert.equal(code, 0, err)
  }
  await run('LONG')
  await run('and now?', '--leash', 'read', '-a', 'small')
  const told = JSON.stringify(server.turns()[0]!.body.messages)
  assert.deepEqual([told.includes('old old'), told.includes('and now?')], [false, true])
})
