import type { TestContext } from 'node:test'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathOf } from '../system-path.ts'
import { Machine } from '../cli/program.ts'

const answer = [
  '# What it does',
  '',
  'It **adds** two numbers with `add(a, b)`:',
  '',
  '```ts',
  'export function add(a: number, b: number): number {',
  '  return a + b // a sum',
  '}',
  '```',
  '',
  '| file | lines |',
  '|---|---|',
  '| add.ts | 3 |',
  '',
  '1. first',
  '2. second',
  '',
  'See https://example.com/add for more.',
].join('\n')

/** The last message of the person, as a plain command reads it from its stdin. */
export const lastWords = `"$(awk '/^<message from="user">/ { getline last } END { print last }')"`

/** A project with a few files, and agents that do what the prompt says. */
export function talkers(t: TestContext): { machine: Machine; goOn(): void } {
  const machine = new Machine(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  mkdirSync(join(machine.project, 'src'))
  writeFileSync(join(machine.project, 'src/add.ts'), 'export const add = 1\n')
  writeFileSync(join(machine.project, 'README.md'), '# add\n')
  const file = join(machine.folder, 'answer.md')
  const go = join(machine.folder, 'go')
  writeFileSync(file, answer)
  machine.agents(
    {
      alpha: `case ${lastWords} in
        'quota please') echo 'usage limit reached' >&2; exit 1;;
        'long please') seq -f '- item %g of a long list' 120;;
        'stream please') echo 'The first half of an answer'; until [ -e ${go} ]; do sleep 0.02; done; echo 'and the second.';;
        'fail please') echo 'it broke in the middle' >&2; exit 3;;
        *) cat ${file};;
        esac`,
      beta: `case ${lastWords} in 'fail please') echo 'this one as well, back in 9 h' >&2; exit 4;; *) echo 'Beta goes on.';; esac`,
    },
    { rotationStrategy: 'exhaustion', metaInstruction: false },
  )
  return { machine, goOn: () => writeFileSync(go, '') }
}

/** Words of a recording, and what is said in their place. */
export type Twist = readonly (readonly [from: string, to: string])[]

/** A machine where `claude` is a stand-in that says what the real one was recorded to say. */
export function recordedClaude(t: TestContext, twist: Twist = []): { machine: Machine; env: { PATH: string } } {
  const machine = new Machine(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  const twisted = join(machine.folder, 'twist.json')
  writeFileSync(twisted, JSON.stringify(twist))
  const replay = join(import.meta.dirname, 'replay.ts')
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec '${process.execPath}' '${replay}' claude '${twisted}'\n`, {
    mode: 0o755,
  })
  machine.settings({ agents: [{ name: 'claude', profile: 'claude', contextWindowTokens: 200_000 }] })
  return { machine, env: { PATH: pathOf(bin) } }
}
