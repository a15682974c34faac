import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { metaInstruction } from '../../src/core/talk/transcript.ts'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** Two agents of two vendors that write down what they are given, in a conversation that `first` began. */
async function begun(t: TestContext) {
  const machine = new Machine(t)
  const given = (name: string) => join(machine.folder, `${name}.given`)
  const command = (name: string) => `cat >>${given(name)}; echo from ${name}`
  // Behind a wall they could write nothing down.
  const agents = ['first', 'second'].map((name) => ({
    name,
    command: command(name),
    wall: false,
    contextWindowTokens: 100_000,
  }))
  machine.settings({ agents, sharing: 'ask' })
  for (const prompt of ['one', 'two']) await machine.call(['-p', prompt, '-a', 'first'])
  return { machine, seen: (name: string) => (existsSync(given(name)) ? readFileSync(given(name), 'utf8') : '') }
}

const refused = /^Skipped second: sharing the conversation with second was not allowed$/m

test('a summary is written only by an agent that knows the conversation', async (t) => {
  const { machine, seen } = await begun(t)
  assert.equal((await machine.run(['compact'])).code, 0)
  assert.match(seen('first'), /^Summarise the conversation below/m)
  machine.agents({ second: 'cat; echo from second' }, { sharing: 'ask' })
  const { code, err } = await machine.run(['compact'])
  assert.equal(code, 77)
  golden(t, err)
  assert.equal(seen('second'), '')
})

test('after a summary the agents that knew the conversation go on in it, and no new one is let in unasked', async (t) => {
  const { machine, seen } = await begun(t)
  await machine.call(['compact'])
  await machine.call(['compact'])
  assert.deepEqual(
    machine.history().flatMap((entry) => (entry.type === 'summary' ? [entry.shared] : [])),
    [['first'], ['first']],
  )
  const { out, err } = await machine.call(['-p', 'three', '-a', 'second'])
  assert.equal(out, 'from first\n')
  assert.match(err, refused)
  assert.equal(seen('second'), '')
})

test('a summary is asked for without the words that close a turn', async (t) => {
  const { machine, seen } = await begun(t)
  await machine.call(['compact'])
  const asked = seen('first').slice(seen('first').indexOf('Summarise the conversation below'))
  assert.deepEqual(
    [seen('first'), asked].map((text) => text.includes(metaInstruction)),
    [true, false],
  )
})

test('at a terminal the person is asked, and a yes lets the other vendor in for good', inTerminal, async (t) => {
  const { machine, seen } = await begun(t)
  const no = await typed(machine, ['-p', 'three', '-a', 'second'], [[/1 No, skip second[^]*> /, '1\r']])
  assert.deepEqual({ code: no.code, seen: seen('second') }, { code: 0, seen: '' })
  const yes = await typed(machine, ['-p', 'four', '-a', 'second'], [[/1 No, skip second[^]*> /, '2\r']])
  assert.equal(yes.code, 0)
  assert.match(seen('second'), /from="user">\none\n/)
  assert.equal((await machine.call(['-p', 'five', '-a', 'second'])).out, 'from second\n')
})
