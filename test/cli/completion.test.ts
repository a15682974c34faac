import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatCommand } from '../../src/cli/chat-command.ts'
import { commands } from '../../src/cli/commands.ts'
import { Machine } from './program.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const shapes = [chatCommand, ...commands]
const named = (name: string) => (name === chatCommand.name ? [] : [name])

/** The words that bash offers for each of these lines, the last word of which is being typed. */
async function offered(machine: Machine, lines: readonly string[][]): Promise<string[][]> {
  const { out } = await machine.run(['completion', 'bash'])
  const asked = lines.map(
    (words) =>
      `COMP_WORDS=(termaite ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _termaite; echo "\${COMPREPLY[*]}"`,
  )
  const { stdout, stderr } = spawnSync('bash', ['-c', [out, ...asked].join('\n')], { encoding: 'utf8' })
  assert.equal(stderr, '')
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').filter((word) => word !== ''))
}

test('bash is offered every command, and every flag of each', async (t) => {
  const machine = new Machine(t)
  const flags = (shape: (typeof shapes)[number]) =>
    [...Object.keys(shape.flags ?? {}), 'help'].map((flag) => `--${flag}`)
  const lines = shapes.map(({ name }) => [...named(name), '--'])
  assert.deepEqual(await offered(machine, lines), shapes.map(flags))
  const lists = [[''], ['sessions', 're'], ['se'], ['setup'], ['hub', '']]
  const [words, sessions, half, whole, hub] = await offered(machine, lists)
  assert.deepEqual(
    words!.filter((word) => !word.startsWith('-')),
    commands.map(({ name }) => name),
  )
  assert.deepEqual([sessions, half, whole], [['resume', 'rename'], ['setup', 'sessions', 'serve'], ['setup']])
  // Words inside of others, such as those of `keys [list|add <name>]`, come after these.
  golden(
    t,
    hub!.filter((word) => !word.startsWith('-')),
  )
})

test('after a flag with choices come its choices, and after another one nothing of ours', async (t) => {
  const machine = new Machine(t)
  const valued = shapes.flatMap(({ name, flags = {} }) =>
    Object.entries(flags)
      .filter(([, { value }]) => value)
      .flatMap(([long, { short, choices = [] }]) =>
        [`--${long}`, ...(short ? [`-${short}`] : [])].map((flag) => ({ line: [...named(name), flag, ''], choices })),
      ),
  )
  assert.ok(valued.some(({ choices }) => choices.length > 0))
  assert.deepEqual(
    await offered(
      machine,
      valued.map(({ line }) => line),
    ),
    valued.map(({ choices }) => [...choices]),
  )
})

test('the fish script has every command, flag and choice', async (t) => {
  const { out } = await new Machine(t).run(['completion', 'fish'])
  for (const { name } of commands) assert.match(out, new RegExp(`__fish_use_subcommand -a ${name} -d '`))
  for (const { name, flags = {} } of shapes)
    for (const [long, { short, choices }] of Object.entries(flags)) {
      const line = `${short ? ` -s ${short}` : ''}${choices ? ` -x -a '${choices.join(' ')}'` : ''}`
      const where =
        name === chatCommand.name ? 'not __fish_seen_subcommand_from .*' : `__fish_seen_subcommand_from ${name}`
      assert.match(out, new RegExp(`-n '${where}' -l ${long}${line.replaceAll('|', '\\|')} `), `${name} ${long}`)
    }
})

for (const shell of ['bash', 'zsh', 'fish'])
  test(
    `${shell} can read its script`,
    { skip: spawnSync(shell, ['--version']).status === 0 ? false : `there is no ${shell} here` },
    async (t) => {
      const machine = new Machine(t)
      const file = join(machine.folder, `completion.${shell}`)
      writeFileSync(file, (await machine.run(['completion', shell])).out)
      const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    },
  )

const missing = (shell: string) => (spawnSync(shell, ['--version']).status === 0 ? false : `there is no ${shell} here`)

/** The output of a shell that is started as a person's own, which reads its start files. */
function interactive(shell: string, home: string, line: string): string {
  const env = { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, TERM: 'dumb' }
  return spawnSync(shell, ['-ic', line], { env, cwd: home, encoding: 'utf8', input: '' }).stdout
}

test('a new bash completes after --install, a second one changes nothing, and --uninstall takes all of it back', async (t) => {
  const machine = new Machine(t)
  const home = join(machine.folder, 'home')
  const script = join(home, '.local/share/bash-completion/completions/termaite')
  // Many people keep their start files in a repository, and link to them.
  const start = join(machine.folder, 'dotfiles')
  writeFileSync(start, 'greeting=hello', { mode: 0o640 })
  symlinkSync(start, join(home, '.bashrc'))
  const env = { SHELL: '/usr/bin/bash' }
  golden(t, await machine.call(['completion', '--install'], { env }), { [machine.folder]: '<machine>' })
  const asked =
    'COMP_WORDS=(termaite se); COMP_CWORD=1; _termaite; echo $greeting ${COMPREPLY[*]}; complete -p termaite'
  golden(t, interactive('bash', home, asked))
  const written = readFileSync(start, 'utf8')
  const again = await machine.call(['completion', 'bash', '--install'])
  golden(t, again.out, { [machine.folder]: '<machine>' })
  assert.equal(readFileSync(start, 'utf8'), written)
  const removed = await machine.call(['completion', '--uninstall'], { env })
  assert.equal(removed.out, `Removed ${script}.\nRemoved termaite’s line from ${join(home, '.bashrc')}.\n`)
  assert.deepEqual([existsSync(script), readFileSync(start, 'utf8')], [false, 'greeting=hello\n'])
  const none = await machine.call(['completion', '--uninstall'], { env })
  golden(t, [none.code, none.out])
})

test('a bash that loads bash-completion finds the script by its folder, so that its start file stays as it is', async (t) => {
  const machine = new Machine(t)
  const home = join(machine.folder, 'home')
  const start = '. /usr/share/bash-completion/bash_completion\n'
  writeFileSync(join(home, '.bashrc'), start)
  const { out } = await machine.call(['completion', 'bash', '--install'])
  assert.match(out, /^Wrote .*\nOpen a new bash/)
  assert.equal(readFileSync(join(home, '.bashrc'), 'utf8'), start)
})

test('zsh completes after --install', { skip: missing('zsh') }, async (t) => {
  const machine = new Machine(t)
  const home = join(machine.folder, 'home')
  assert.equal((await machine.call(['completion', '--install'], { env: { SHELL: '/bin/zsh' } })).code, 0)
  assert.equal(interactive('zsh', home, 'print $_comps[termaite]'), '_termaite\n')
  await machine.call(['completion', 'zsh', '--uninstall'])
  assert.equal(readFileSync(join(home, '.zshrc'), 'utf8'), '')
})

test('fish completes after --install', { skip: missing('fish') }, async (t) => {
  const machine = new Machine(t)
  const home = join(machine.folder, 'home')
  assert.equal((await machine.call(['completion', '--install'], { env: { SHELL: '/usr/bin/fish' } })).code, 0)
  // fish completes only programs that it finds.
  mkdirSync(join(home, 'bin'))
  writeFileSync(join(home, 'bin', 'termaite'), '#!/bin/sh\n', { mode: 0o755 })
  const offered = interactive('fish', home, 'complete -C "termaite se"')
  assert.deepEqual(
    offered.split('\n').map((line) => line.split('\t')[0]),
    ['serve', 'sessions', 'setup', ''],
  )
})

test('--install names the shells that it knows, and says why a file could not be written', async (t) => {
  const machine = new Machine(t)
  const unknown = await machine.call(['completion', '--install'], { env: { SHELL: '/bin/ksh' } })
  golden(t, [unknown.code, unknown.err])
  mkdirSync(join(machine.folder, 'home', '.bashrc'))
  const refused = await machine.call(['completion', 'bash', '--install'])
  assert.equal(refused.code, 1)
  assert.match(refused.err, /^termaite: completion: .*\.bashrc cannot be read: illegal operation on a directory\.\n$/)
})

test('--install where nothing can be written says so in words, and how to print the script', async (t) => {
  const machine = new Machine(t)
  // A file in the place of a folder refuses everybody, also the user root.
  writeFileSync(join(machine.folder, 'home', '.local'), '')
  const { code, err } = await machine.call(['completion', 'bash', '--install'])
  assert.equal(code, 1)
  golden(t, err, { [machine.folder]: '<machine>' })
})
