import { test } from 'node:test'
import assert from 'node:assert/strict'
import { hasFlag, programOf } from '../../src/profiles/shared/command-words.ts'

test('the program of a command is seen past variables, env and its folder', () => {
  const commands = {
    'claude -p': 'claude',
    '  /opt/some where/claude': 'some',
    '"/opt/some where/claude" -p': 'claude',
    'env A=b C="d e" /usr/bin/gemini -o json': 'gemini',
    "KEY='a b' codex exec": 'codex',
    '/usr/bin/env codex': 'codex',
    '': undefined,
    'A=b': undefined,
  }
  assert.deepEqual(Object.fromEntries(Object.keys(commands).map((command) => [command, programOf(command)])), commands)
})

test('a flag is seen with its value beside it or joined, and not inside another word', () => {
  const json = (command: string) => hasFlag(command, ['-o', '--output-format'], 'json')
  assert.deepEqual(['x -o json', 'x --output-format=json', 'x -o stream-json', 'x "-o json"', 'x json -o'].map(json), [
    true,
    true,
    false,
    false,
    false,
  ])
  assert.deepEqual([hasFlag('x exec --json', ['--json']), hasFlag('x "say --json"', ['--json'])], [true, false])
})
