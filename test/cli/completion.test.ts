import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commands, chatCommand } from '../../src/cli/commands.ts'
import { Machine } from './program.ts'

const shapes = [chatCommand, ...commands]
const named = (name: string) => (name === chatCommand.name ? [] : [name])

/** What bash offers for each of these lines, the last word of which is being typed. */
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
  const [words, sessions, half, whole] = await offered(machine, [[''], ['sessions', 're'], ['se'], ['setup']])
  assert.deepEqual(
    words!.filter((word) => !word.startsWith('-')),
    commands.map(({ name }) => name),
  )
  assert.deepEqual([sessions, half, whole], [['resume', 'rename'], ['setup', 'sessions', 'serve'], ['setup']])
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

test('fish is told every command, flag and choice', async (t) => {
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
