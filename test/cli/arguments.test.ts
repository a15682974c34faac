import { test } from 'node:test'
import assert from 'node:assert/strict'
import { metaInstruction } from '../../src/core/talk/transcript.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const refused: string[][] = [
  ['-p', 'fix', 'the', 'build'],
  ['ps', 'now'],
  ['doctor', 'a', 'b'],
  ['sesions', 'list'],
  ['doctr'],
  ['udno'],
  ['--debug', 'sessions'],
  ['-p', '--debug'],
  ['-p', 'x', '-a', '-c'],
  ['doctor', '--foo'],
  ['-p', 'x', '--json'],
  ['-p', 'x', '--laesh', 'read'],
  ['doctor', '--qick'],
  ['-p', 'one', '-p', 'two'],
  ['crew', 'close', '1'],
  ['config', 'get', 'leash'],
  ['config', 'get'],
  ['-Z'],
  ['-p'],
  ['doctor', '--quick=yes'],
  ['completion'],
  ['-c', '--cwd', '.', '-p', 'x'],
]

for (const args of refused)
  test(`refused, and no agent is asked: termaite ${args.join(' ')}`, async (t) => {
    const machine = new Machine(t)
    const witness = join(machine.folder, 'asked')
    machine.agents({ agent: `touch ${witness}; echo hi` })
    const ran = await machine.call(args)
    golden(t, { ...ran, asked: existsSync(witness) })
  })

const prompts: [args: string[], prompt: string][] = [
  [['-p', '- list item'], '- list item'],
  [['-p', '--- a\n+++ b'], '--- a\n+++ b'],
  [['-p', '-5 + 3'], '-5 + 3'],
  [['--prompt=--debug'], '--debug'],
  [['do', 'this', 'now'], 'do this now'],
  [['--', '-x', 'y'], '-x y'],
]

for (const [args, prompt] of prompts)
  test(`taken as the prompt: termaite ${JSON.stringify(args)}`, async (t) => {
    const machine = new Machine(t)
    machine.agents({ echo: 'cat' }, { metaInstruction: false })
    const { code, out } = await machine.call(['--ephemeral', ...args])
    assert.deepEqual({ code, out }, { code: 0, out: `<message from="user">\n${prompt}\n</message>\n` })
  })

test('the closing instruction comes last; the settings can drop or replace it', async (t) => {
  const machine = new Machine(t)
  const printed = async (settings: Record<string, unknown>) => {
    machine.agents({ echo: 'cat' }, settings)
    return (await machine.call(['--ephemeral', '-p', 'hello'])).out
  }
  const said = '<message from="user">\nhello\n</message>\n'
  assert.deepEqual(
    [await printed({}), await printed({ metaInstruction: false }), await printed({ metaInstruction: 'Sum up.' })],
    [`${said}\n${metaInstruction}\n`, said, `${said}\nSum up.\n`],
  )
})

test('an empty word means nothing, and is never taken for the one that is there', async (t) => {
  const machine = new Machine(t)
  machine.agents({ good: 'cat >/dev/null; echo x > made; echo ok' })
  await machine.run(['-p', 'one'])
  for (const args of [
    ['forget', '', '--yes'],
    ['undo', '', '--yes'],
    ['stop', ''],
    ['sessions', 'rename', '', 'foo'],
    ['-p', 'x', '--agent='],
  ]) {
    const { code, out } = await machine.run(args)
    assert.deepEqual({ args, code, out }, { args, code: 2, out: '' })
  }
  assert.equal(machine.kept().length, 3)
  assert.equal((await machine.run(['diff', '--stat'])).out, 'added  made  +1 −0\n')
})

test('help and version are answered, not sent', async (t) => {
  const machine = new Machine(t)
  assert.match((await machine.call(['help'])).out, /^Usage: termaite help <topic>/)
  assert.equal((await machine.call(['help', 'undo'])).out, (await machine.call(['undo', '--help'])).out)
  assert.equal((await machine.call(['version'])).out, (await machine.call(['--version'])).out)
})
