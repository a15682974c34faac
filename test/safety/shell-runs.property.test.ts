import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from '../cases.ts'
import { judge } from '../../src/safety/shell/judge/shell-judge.ts'
import { layProject } from './shell/project.ts'
import { aroundAny } from './shell/wrappings.ts'
import { sized } from '../full.ts'

const project = layProject()

/** Letters that change what stands around them. */
const noise = [
  '',
  '',
  '"',
  "'",
  '`',
  '$',
  '\\',
  '#',
  ' #',
  '{',
  '}',
  '(',
  ')',
  '\\\n',
  '""',
  "''",
  '$(',
  '!',
  '~',
  '=',
  '<<E\n',
  '> f ',
  'export ',
  '[',
  '\t',
]

/** Every command that is not there is written down by its name, in a file of its line: what runs late stays with its own. */
const script = `
command_not_found_handle() { printf '%s\\n' "$1" >&9; }
mkdir names
exec 8<lines
at=0
PATH=/nowhere
while IFS= read -r -d '' line <&8; do
  ( exec 9>names/$at; eval "$line"; wait ) </dev/null >/dev/null 2>/dev/null
  at=$((at + 1))
done`

test('every command that a real shell runs was seen by the judge, or the script counts as unreadable', async () => {
  // A loop does not end, and what is substituted for a file may be late.
  const ways = aroundAny.filter((wrap) => !/while true|<\(/.test(wrap('x')))
  const nested = fc
    .tuple(
      fc.constantFrom('run1', 'run2 a', 'run3 "b c"'),
      fc.array(fc.constantFrom(...ways), { minLength: 1, maxLength: 3 }),
    )
    .map(([command, around]) => around.reduce((inner, wrap) => wrap(inner), command as string))
  const disturbed = fc
    .tuple(nested, fc.constantFrom(...noise), fc.nat({ max: 1000 }))
    .map(([line, sign, at]) => line.slice(0, at % line.length) + sign + line.slice(at % line.length))
  const lines = fc.sample(disturbed, { numRuns: sized(250, 700), seed: 3 })
  writeFileSync(join(project.root, 'lines'), lines.map((line) => `${line}\0`).join(''))
  spawnSync('bash', ['--norc', '-c', script], { cwd: project.root, env: { PATH: process.env.PATH } })
  const ran = lines.map((_line, at) => readFileSync(join(project.root, 'names', String(at)), 'utf8'))
  const missed: unknown[] = []
  let readable = 0
  for (const [i, line] of lines.entries()) {
    const { parts, worst } = await judge(line, project)
    const names = ran[i]!.split('\n').filter((name) => /^run\d$/.test(name))
    if (worst.class === 'dynamic' || names.length === 0) continue
    readable++
    const seen = parts.map((part) => part.argv?.[0] ?? part.text)
    if (!names.every((name) => seen.some((text) => text.startsWith(name)))) missed.push({ line, names, seen })
  }
  assert.deepEqual(missed, [])
  assert.ok(readable > sized(15, 40), `${readable} were run and readable`)
})
