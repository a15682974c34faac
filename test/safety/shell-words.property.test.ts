import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fc from '../cases.ts'
import { judge } from '../../src/safety/shell/judge/shell-judge.ts'
import { layProject } from './shell/project.ts'

const project = layProject()

const pieces = [
  'a',
  'B',
  '1',
  ' ',
  '  ',
  "'",
  '"',
  '\\',
  '$',
  '$HOME',
  '${HOME}',
  '~',
  '~/',
  '/',
  '{',
  '}',
  ',',
  '{a,b}',
  '..',
  '=',
  '#',
  '!',
  '%',
  ':',
  '$?',
  "'x y'",
  '"x y"',
  "$'q'",
  '-',
  '+',
  '@',
  '^',
  ']',
  'é',
  '\\\n',
  '"$HOME/x"',
  "\\'",
  '$((1-1))',
  '{1..3}',
  '""',
  "''",
  '--a=b',
  '&1',
]

test('words are read as bash reads them, or not at all', async () => {
  const lines = fc
    .sample(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 9 }), { numRuns: 2000, seed: 7 })
    .map((parts) => `echo ${parts.join('')}`)
  const known: { line: string; argv: string[] }[] = []
  for (const line of lines) {
    const { parts } = await judge(line, project)
    const [part] = parts
    // The value of a number does not matter where the number is a word of its own.
    if (parts.length === 1 && part?.argv && !/\$\{?[$!]/.test(line)) known.push({ line, argv: part.argv })
  }
  assert.ok(known.length > 300, `${known.length} were read`)
  // Each is read by a shell of its own, as a text that cannot break the others.
  const script =
    'echo() { printf "<%s>" "$@"; printf "\\0"; }\nwhile IFS= read -r -d "" line; do true; eval "$line" 2>/dev/null || printf "broken\\0"; done'
  const ran = spawnSync('bash', ['--norc', '-c', script], {
    input: known.map(({ line }) => `${line}\0`).join(''),
    cwd: project.root,
    env: { PATH: process.env.PATH, HOME: project.home },
    encoding: 'utf8',
  })
  const real = ran.stdout.split('\0')
  const wrong = known.flatMap(({ line, argv }, i) => {
    const [, ...args] = argv
    const found = args.length === 0 ? '<>' : args.map((arg) => `<${arg}>`).join('')
    return found === real[i] ? [] : [{ line, found, real: real[i] }]
  })
  assert.deepEqual(wrong, [])
})
