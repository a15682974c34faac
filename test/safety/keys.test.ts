import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openKeys } from '../../src/safety/api-keys.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

function place(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  return home
}

function memoryKeychain() {
  const kept = new Map<string, string>()
  return {
    kept,
    get: (name: string) => kept.get(name),
    put: (name: string, secret: string) => void kept.set(name, secret),
    remove: (name: string) => void kept.delete(name),
  }
}

test('the environment goes first, its names in their order', async (t) => {
  const keychain = memoryKeychain()
  keychain.put('openrouter', 'from the chain')
  const env = { OPEN_ROUTER_API_KEY: 'second', EMPTY: '' }
  const keys = openKeys({ home: place(t), env, keychain })
  assert.deepEqual(await keys.get('openrouter', ['EMPTY', 'OPENROUTER_API_KEY', 'OPEN_ROUTER_API_KEY']), {
    key: 'second',
    place: 'environment',
  })
  assert.deepEqual(await keys.get('openrouter', []), { key: 'from the chain', place: 'keychain' })
  assert.equal(await keys.get('groq', ['GROQ_API_KEY']), undefined)
})

test('every key that is found or stored is reported to the border, so that it can be masked', async (t) => {
  const learned: string[] = []
  const learn = (name: string, key: string) => void learned.push(`${name} ${key}`)
  const keychain = memoryKeychain()
  const keys = openKeys({ home: place(t), env: { VARIABLE: 'one' }, keychain, border: { learn } })
  await keys.get('groq', ['VARIABLE'])
  await keys.put('openai', 'two')
  await openKeys({ home: place(t), env: {}, keychain, border: { learn } }).get('openai', [])
  await keys.get('nobody', [])
  assert.deepEqual(learned, ['groq one', 'openai two', 'openai two'])
})

test('a key goes to the keychain, else to a file of its owner alone, and can be taken away', async (t) => {
  const home = place(t)
  const file = join(home, 'credentials.json')
  const without = openKeys({ home, env: {}, keychain: null })
  assert.equal(await without.put('groq', 'k-1'), 'credentials.json')
  assert.deepEqual(
    [statSync(file).mode & 0o777, await without.get('groq', [])],
    [0o600, { key: 'k-1', place: 'credentials.json' }],
  )
  const keychain = memoryKeychain()
  const withOne = openKeys({ home, env: {}, keychain })
  assert.equal(await withOne.put('groq', 'k-2'), 'keychain')
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {}, 'the old one does not stay behind')
  assert.deepEqual(await withOne.get('groq', []), { key: 'k-2', place: 'keychain' })
  assert.deepEqual([await withOne.remove('groq'), await withOne.remove('groq'), keychain.kept.size], [true, false, 0])
})

test('a keychain that refuses counts as missing', async (t) => {
  const refuses = () => {
    throw new Error('locked')
  }
  const keys = openKeys({ home: place(t), env: {}, keychain: { get: refuses, put: refuses, remove: refuses } })
  assert.equal(await keys.get('groq', []), undefined)
  assert.equal(await keys.put('groq', 'k'), 'credentials.json')
})

test('a file that others can read, or that is broken, is reported without any key', async (t) => {
  const home = place(t)
  const file = join(home, 'credentials.json')
  const keys = openKeys({ home, env: {}, keychain: null })
  writeFileSync(file, '{"groq": "sk-secret"}', { mode: 0o644 })
  chmodSync(file, 0o644)
  await golden.rejects(t, keys.get('groq', []), { [home]: '<home>' })
  chmodSync(file, 0o600)
  for (const broken of ['{"groq": "sk-secret', '["sk-secret"]x', '{"groq": {"key": "sk-secret"}}']) {
    writeFileSync(file, broken)
    await assert.rejects(keys.get('groq', []), (error: Error) => !error.message.includes('sk-secret'))
  }
})
