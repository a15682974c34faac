import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'

const refused: [args: string[], sentence: string][] = [
  [
    ['-p', 'fix', 'the', 'build'],
    '-p takes one argument, "fix", but more words follow. Put the whole prompt in quotes: termaite -p "fix the build"',
  ],
  [
    ['ps', 'now'],
    'termaite ps takes no arguments, but found "now". See: termaite ps --help. To send a prompt, use -p.',
  ],
  [
    ['doctor', 'a', 'b'],
    'termaite doctor takes at most one argument, but found "a b". See: termaite doctor --help. To send a prompt, use -p.',
  ],
  [['sesions', 'list'], 'there is no command "sesions". Did you mean "sessions"? To send it as a prompt, use -p.'],
  [['doctr'], 'there is no command "doctr". Did you mean "doctor"? To send it as a prompt, use -p.'],
  [['udno'], 'there is no command "udno". Did you mean "undo"? To send it as a prompt, use -p.'],
  [
    ['--debug', 'sessions'],
    'the command "sessions" must come before its flags: termaite sessions … To send it as a prompt, use -p.',
  ],
  [
    ['-p', '--debug'],
    '-p needs a <text>, but the flag "--debug" follows. To use that as the value, write --prompt="--debug".',
  ],
  [
    ['-p', 'x', '-a', '-c'],
    '-a needs a <name|auto>, but the flag "-c" follows. To use that as the value, write --agent="-c".',
  ],
  [['doctor', '--foo'], 'there is no flag --foo. See: termaite doctor --help'],
  [['-p', 'x', '--json'], 'there is no flag --json. Did you mean --output-format json? See: termaite --help'],
  [['-p', 'x', '--laesh', 'read'], 'there is no flag --laesh. Did you mean --leash? See: termaite --help'],
  [['doctor', '--qick'], 'there is no flag --qick. Did you mean --quick? See: termaite doctor --help'],
  [['-p', 'one', '-p', 'two'], '--prompt was given twice, and only one of them would count. Give it once.'],
  [['crew', 'close', '1'], 'crew close ends the whole crew. To end one agent: termaite crew kill 1'],
  [
    ['config', 'get', 'leash'],
    'termaite config takes at most one argument (path|print|validate|edit), but found "get leash". See: termaite config --help. To send a prompt, use -p.',
  ],
  [
    ['config', 'get'],
    'config: found "get", allowed: path, print, validate, edit. To see every setting: termaite config print. To change one: termaite config edit',
  ],
  [['-Z'], 'there is no flag -Z. See: termaite --help'],
  [['-p'], '--prompt needs a <text>. See: termaite --help'],
  [['doctor', '--quick=yes'], '--quick takes no value. See: termaite doctor --help'],
  [['completion'], 'completion: the name of your shell is missing: bash, zsh, fish.'],
  [['-c', '--cwd', '.', '-p', 'x'], '--continue and --cwd name two different folders. Use only one of them.'],
]

for (const [args, sentence] of refused)
  test(`refused, and no agent is asked: termaite ${args.join(' ')}`, async (t) => {
    const machine = new Machine(t)
    const witness = join(machine.folder, 'asked')
    machine.agents({ agent: `touch ${witness}; echo hi` })
    const ran = await machine.call(args)
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
    const { code, out } = await machine.call(['--ephemeral', ...args])
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
  assert.match((await machine.call(['help'])).out, /^Usage: termaite help <topic>/)
  assert.equal((await machine.call(['help', 'undo'])).out, (await machine.call(['undo', '--help'])).out)
  assert.equal((await machine.call(['version'])).out, (await machine.call(['--version'])).out)
})
