import type { Profile } from '../../src/core/profile/profile.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OptionValueError } from '../../src/base/option-value.ts'
import { leashes } from '../../src/core/work/agent.ts'
import { allProfiles } from '../../src/profiles/all.ts'
import { termaite } from '../../src/profiles/termaite.ts'

// Every command that a profile composes runs in bash here, with a program in the CLI's place that writes down its argv.

const folder = mkdtempSync(join(tmpdir(), 'termaite-argv-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const bin = join(folder, 'bin')
const work = join(folder, 'work')
for (const path of [bin, work]) mkdirSync(path)

const all: readonly Profile[] = [...allProfiles(), termaite('termaite', 'native', 'unknown')]
for (const word of all.flatMap(({ words }) => words)) {
  writeFileSync(join(bin, word), `#!/bin/sh\nprintf '%s\\0' "$@"\n`)
  chmodSync(join(bin, word), 0o755)
}

/** The argv that each command gives its CLI. One bash runs them all: most of the time would go into starting it. */
function argvsOf(commands: readonly string[]): string[][] {
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder, TMPDIR: folder }
  const script = commands.map((command) => `(\n${command}\n)\nprintf '\f'\n`).join('')
  const run = spawnSync('bash', ['-c', script], { cwd: work, env, encoding: 'utf8', input: '' })
  assert.equal(run.stderr, '', script)
  return run.stdout
    .replaceAll(/tmp\.\w+/g, 'tmp')
    .split('\f')
    .slice(0, -1)
    .map((words) => words.split('\0').slice(0, -1))
}

type Compose = (value: string) => string

/** Every way in which a value of somebody else's gets into a command of a profile. */
function composers(profile: Profile): Record<string, Compose> {
  const { screen, acp, name } = profile
  const ways: Record<string, Compose> = {}
  for (const leash of leashes) {
    const add = (way: string, compose: Compose) => (ways[`${name} ${leash} ${way}`] = compose)
    if (profile.leashes[leash] !== undefined) {
      add('model', (model) => profile.command({ leash, model }))
      add('resume', (resume) => profile.command({ leash, resume }))
    }
    if (screen?.leashes[leash] !== undefined) {
      add('screen model', (model) => screen.command({ leash, model }))
      add('screen resume', (resume) => screen.command({ leash, resume }))
      add('screen thread', (thread) => screen.command({ leash, thread }))
    }
    if (acp?.leashes[leash] !== undefined) add('acp model', (model) => acp.command({ leash, model }))
  }
  const lends = screen?.lends
  if (lends) {
    const server = { command: 'node', args: ['x'], env: {}, patient: { args: ['x'], ms: 1000 } }
    ways[`${name} lent name`] = (value) => `${name} ${lends({ name: value, ...server }, '/x').words}`
    ways[`${name} lent file`] = (value) => `${name} ${lends({ name: 'x', ...server }, value).words}`
    ways[`${name} lent command`] = (value) => `${name} ${lends({ name: 'x', ...server, command: value }, '/x').words}`
  }
  return ways
}

const ways = all.flatMap((profile) => Object.entries(composers(profile)))

const flags = ['--dangerously-skip-permissions', '-y', '--', '-', '--upload-pack=touch canary', '-c', '']

test('no profile passes a value on that its CLI could take for a flag', () => {
  for (const [way, compose] of ways) {
    const composed = flags.flatMap((value) => {
      try {
        return [{ value, command: compose(value) }]
      } catch (error) {
        assert.ok(error instanceof OptionValueError, `${way}: ${String(error)}`)
        return []
      }
    })
    // A command that leaves the value out, or has it inside of another word, has the words that it has with every value.
    const [usual = [], ...argvs] = argvsOf([compose('usual'), ...composed.map(({ command }) => command)])
    const expected = composed.map(({ value }) => usual.map((word) => word.replace(/(?<=[^ ])usual/, () => value)))
    assert.deepEqual(argvs, expected, way)
  }
})

const texts = ["it's", 'a b', '$(touch canary)', '`touch canary`', '; touch canary', 'x" || touch canary "', '*', 'é…']

test('every other value reaches the CLI as one word, and nothing in it is run', () => {
  for (const [way, compose] of ways) {
    const [usual = [], ...argvs] = argvsOf(['usual', ...texts].map(compose))
    const shown = (value: string) => (way.endsWith('command') ? JSON.stringify(value).slice(1, -1) : value)
    const expected = texts.map((value) => usual.map((word) => word.replace(/usual/, () => shown(value))))
    assert.deepEqual(argvs, expected, way)
  }
  assert.deepEqual(readdirSync(work), [])
})

test('a line end in a value is refused: in a terminal it would end the command', () => {
  for (const [way, compose] of ways) {
    if (compose('usual') === compose('other') || way.endsWith('lent command')) continue
    assert.throws(() => compose('a\ntouch canary'), OptionValueError, way)
  }
})

test('added folders reach the CLI as words, and nothing in their names is run', () => {
  const opened = all.filter(({ reaches }) => reaches)
  assert.deepEqual(opened.map(({ name }) => name).sort(), ['claude', 'codex', 'copilot', 'gemini', 'qwen', 'termaite'])
  const folders = texts.map((text) => `/${text}`)
  const argvs = argvsOf(opened.map(({ words, reaches }) => `${words[0]} ${reaches!(folders)}`))
  const flag = (name: string) => folders.map((folder) => `${name}=${folder}`)
  assert.deepEqual(Object.fromEntries(opened.map(({ name }, at) => [name, argvs[at]])), {
    claude: flag('--add-dir'),
    gemini: flag('--include-directories'),
    codex: ['-c', `sandbox_workspace_write.writable_roots=${JSON.stringify(folders)}`],
    qwen: flag('--include-directories'),
    copilot: flag('--add-dir'),
    termaite: flag('--add-dir'),
  })
  assert.deepEqual(readdirSync(work), [])
  // A comma would make two folders of one.
  assert.deepEqual(
    argvsOf(opened.map(({ words, reaches }) => `${words[0]} ${reaches!(['/a,b', '/c'])}`)).filter((argv) =>
      argv.some((word) => word.startsWith('--include')),
    ),
    [['--include-directories=/c'], ['--include-directories=/c']],
  )
})
