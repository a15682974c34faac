import { test } from 'node:test'
import assert from 'node:assert/strict'
import { profileFor } from '../../src/profiles/all.ts'

test('a command as a person wrote it speaks the dialect when it asks for it', () => {
  const commands = {
    'claude -p --output-format stream-json --verbose': true,
    'claude --print --output-format=stream-json --verbose': true,
    'claude -p': false,
    'claude -p --output-format json': false,
    'claude -p --input-format stream-json --output-format stream-json --verbose': true,
    'codex app-server': true,
    'codex exec --json': true,
    'codex e --json': true,
    'codex exec': false,
    'codex --json': false,
    'gemini -o stream-json': true,
    'gemini --output-format=stream-json': true,
    'gemini -o json': false,
    'copilot --output-format=json -s': true,
    'copilot -s': false,
    'opencode run --format json': true,
    'opencode run': false,
    'pi -p --mode json': true,
    'pi --mode rpc': true,
    'pi -p': false,
    'qwen -o stream-json': true,
    'qwen -o json': false,
  }
  assert.deepEqual(
    Object.fromEntries(Object.keys(commands).map((command) => [command, profileFor(command)!.speaks(command)])),
    commands,
  )
})

test('an own command is talked to as it was started: with a plain prompt, or both ways', () => {
  const bothWays = (command: string) => profileFor(command)!.dialect!({ command }).asks === true
  assert.deepEqual(
    [
      'claude -p --output-format stream-json --verbose',
      'claude -p --input-format stream-json --output-format stream-json --verbose',
      'codex exec --json',
      'codex app-server',
    ].map(bothWays),
    [false, true, false, true],
  )
})
