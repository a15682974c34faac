import { test } from 'node:test'
import assert from 'node:assert/strict'
import { commands } from '../../src/wire/commands.ts'
import { Machine } from './program.ts'

test('the overview names every command, and no line of any help is wider than 80 columns', async (t) => {
  const machine = new Machine(t)
  const overview = (await machine.run(['--help'])).out
  const named = [...overview.matchAll(/^ {2}termaite ([a-z]+) /gm)].map((match) => match[1])
  assert.deepEqual(
    named.slice(0, commands.length),
    commands.map(({ name }) => name),
  )
  for (const args of [[], ...commands.map(({ name }) => [name])]) {
    const { code, out } = await machine.run([...args, '--help'])
    assert.equal(code, 0)
    assert.deepEqual(
      out.split('\n').filter((line) => line.length > 80),
      [],
      args.join(' '),
    )
  }
})
