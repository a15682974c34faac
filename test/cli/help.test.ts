import { test } from 'node:test'
import assert from 'node:assert/strict'
import { commands } from '../../src/cli/commands.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

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

test('a command with many forms has a line for each of them in its help', async (t) => {
  const machine = new Machine(t)
  for (const name of ['sessions', 'hub']) {
    const { out } = await machine.run([name, '--help'])
    golden(t, out.split('\n\n')[0]!.split('\n'))
  }
})

test('the help begins its examples with the chat, and says its keys and how it exits', async (t) => {
  const { out } = await new Machine(t).run(['--help'])
  const [, examples = ''] = out.split('\nExamples:\n')
  assert.equal(examples.split('\n')[0], '  termaite')
  const paragraphs = out.split('\n\n').map((text) => text.replaceAll(/\s+/g, ' '))
  golden(
    t,
    paragraphs.find((text) => text.startsWith('Chat: ')),
  )
  assert.match(out.replaceAll(/\s+/g, ' '), /The chat exits with 0, or with 130 when leaving it cancelled a turn\./)
})
