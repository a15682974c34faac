import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('--allow spares a question in this run, --deny goes before it, and refusals are audited', async (t) => {
  const server = await modelServer(({ count }) => {
    const path = ['a.txt', 'b.txt', 'c.txt'][(count - 1) % 4]
    return path ? { call: { tool: 'file_creator', input: { file_path: path, content: 'x' } } } : { text: 'done' }
  })
  t.after(() => server.close())
  const machine = new Machine(t)
  const baseURL = `${server.url}/v1`
  machine.settings({
    metaInstruction: false,
    agents: [{ name: 'native', kind: 'native', model: 'groq/any', baseURL, contextWindowTokens: 100_000 }],
    permissions: { ask: ['file_creator'] },
  })
  const run = (...args: string[]) => machine.run(args, { env: { GROQ_API_KEY: 'made-up' } })
  const rules = ['--allow', 'file_creator(a.txt)', '--allow', 'Write(b.txt)', '--deny', 'Edit(b.txt)']
  const { code, out, err } = await run('-p', 'go', ...rules)
  assert.deepEqual({ code, out }, { code: 77, out: 'done\n' }, err)
  assert.deepEqual(readdirSync(machine.project), ['a.txt'])
  const entries = (await run('audit', 'export')).out.trim().split('\n')
  golden(
    t,
    entries.map((line) => {
      const { type, answer, why, verdict } = JSON.parse(line)
      return [type, answer ?? why ?? verdict]
    }),
  )
  assert.match((await run('audit')).out, /refusal\s+no\s+native\s+file_creator/)
  const wrong = await run('-p', 'go', '--deny', 'bash(')
  assert.deepEqual([wrong.code, wrong.err], [2, 'termaite: --deny: "bash(" is not a rule: the closing ) is missing.\n'])
})

const skip = process.platform === 'linux' ? noSandbox : 'namespaces are those of Linux'

test('a command is walled in, and shares the network of the system by rule alone', { skip }, async (t) => {
  const server = await modelServer(({ count }) =>
    count % 2 === 1 ? { call: { tool: 'bash', input: { command: 'sh look.sh' } } } : { text: 'done' },
  )
  t.after(() => server.close())
  const machine = new Machine(t)
  const baseURL = `${server.url}/v1`
  const agent = { name: 'native', kind: 'native', model: 'groq/any', baseURL, contextWindowTokens: 100_000 }
  machine.settings({ metaInstruction: false, agents: [agent] })
  const beside = join(machine.folder, 'beside')
  writeFileSync(join(machine.project, 'look.sh'), `readlink /proc/self/ns/net; echo x > in.txt; echo x > ${beside}`)
  const run = (...rules: string[]) =>
    machine.call(['-p', 'go', '--allow', 'bash(sh look.sh)', ...rules], { env: { GROQ_API_KEY: 'made-up' } })
  for (const rules of [[], ['--allow', 'WebFetch']]) assert.equal((await run(...rules)).code, 0)
  const here = readlinkSync('/proc/self/ns/net')
  const seen = machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text.includes(here)] : []))
  assert.deepEqual(seen, [false, true])
  assert.deepEqual([existsSync(join(machine.project, 'in.txt')), existsSync(beside)], [true, false])
})
