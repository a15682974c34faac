import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'

const refused: [args: string[], sentence: string][] = [
  [
    ['-p', 'fix', 'the', 'build'],
    'the prompt after -p ends at "fix", and more words follow. Quote it: termaite -p "fix the build"',
  ],
  [['ps', 'now'], 'termaite ps takes no words, and found "now". See: termaite ps --help; use -p to send a prompt.'],
  [
    ['doctor', 'a', 'b'],
    'termaite doctor takes one word, and found "a b". See: termaite doctor --help; use -p to send a prompt.',
  ],
  [['sesions', 'list'], 'there is no command "sesions"; did you mean "sessions"? Use -p to send it as a prompt.'],
  [['doctr'], 'there is no command "doctr"; did you mean "doctor"? Use -p to send it as a prompt.'],
  [['udno'], 'there is no command "udno"; did you mean "undo"? Use -p to send it as a prompt.'],
  [
    ['--debug', 'sessions'],
    'the command "sessions" comes before its flags: termaite sessions …; use -p to send it as a prompt.',
  ],
  [['-p', '--debug'], '-p needs its <text>, and "--debug" follows. If that is it, write --prompt="--debug".'],
  [['-p', 'x', '-a', '-c'], '-a needs its <name|auto>, and "-c" follows. If that is it, write --agent="-c".'],
  [['-c', '--cwd', '.', '-p', 'x'], '--continue and --cwd name two folders; leave one of them out.'],
]

for (const [args, sentence] of refused)
  test(`refused, and no agent is asked: termaite ${args.join(' ')}`, async (t) => {
    const machine = new Machine(t)
    const witness = join(machine.folder, 'asked')
    machine.agents({ agent: `touch ${witness}; echo hi` })
    const ran = await machine.run(args)
    assert.deepEqual(
      { ...ran, asked: existsSync(witness) },
      { code: 2, signal: null, out: '', err: `termaite: ${sentence}\n`, asked: false },
    )
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
    const { code, out } = await machine.run(['--ephemeral', ...args])
    assert.deepEqual({ code, out }, { code: 0, out: `<message from="user">\n${prompt}\n</message>\n` })
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
  assert.equal((await machine.run(['help'])).out, (await machine.run(['--help'])).out)
  assert.equal((await machine.run(['help', 'undo'])).out, (await machine.run(['undo', '--help'])).out)
  assert.equal((await machine.run(['version'])).out, (await machine.run(['--version'])).out)
})
