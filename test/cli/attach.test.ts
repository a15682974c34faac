import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine, untimed } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('-p gives the agent the files of an @path, keeps them, and names those that it could not attach', async (t) => {
  const machine = new Machine(t)
  machine.agents({ echo: 'cat' })
  mkdirSync(join(machine.project, 'src'))
  writeFileSync(join(machine.project, 'src/agent.py'), 'print(1)\n')
  const { code, out, err } = await machine.run(['-p', 'Optimize the code in @src/agent.py, not @gone.py'], {
    input: 'see @src/agent.py',
  })
  const prompt = [
    'Optimize the code in src/agent.py, not @gone.py',
    '<file path="src/agent.py">\nprint(1)\n\n</file>',
    '<stdin>\nsee @src/agent.py\n</stdin>',
  ].join('\n\n')
  assert.equal(code, 0)
  assert.ok(out.includes(prompt), 'what is piped in beside a prompt is no prompt')
  golden(t, untimed(err))
  assert.deepEqual(machine.kept()[0], ['prompt', 'user', prompt])
})

test('a prompt from stdin is one too', async (t) => {
  const machine = new Machine(t)
  machine.agents({ echo: 'cat' })
  writeFileSync(join(machine.project, 'a.md'), 'A')
  await machine.call(['-p', '-'], { input: 'read @a.md' })
  assert.deepEqual(machine.kept()[0], ['prompt', 'user', 'read a.md\n\n<file path="a.md">\nA\n</file>'])
})
