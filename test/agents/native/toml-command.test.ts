import { test } from 'node:test'
import assert from 'node:assert/strict'
import { tomlCommand } from '../../../src/agents/native/toml-command.ts'

test('a command of Gemini CLI becomes one of ours', () => {
  const written = `description = "Searches"
prompt = """
Summarise what is found for {{args}}:
!{grep -r {{args}} . | awk '{print}'}
Follow @{docs/rules.md} and @{my notes.md}.
"""
`
  assert.deepEqual(tomlCommand(written), {
    description: 'Searches',
    body: 'Summarise what is found for $ARGUMENTS:\n!`grep -r $ARGUMENTS . | awk \'{print}\'`\nFollow @docs/rules.md and @"my notes.md".',
  })
})

test('a command that would mean something else here is not used, and the reason is said', () => {
  const reasons: [text: string, why: RegExp][] = [
    ['prompt = "open', /^it is not TOML \(line 1\)$/],
    ['description = "x"', /no prompt/],
    ['prompt = "  "', /no prompt/],
    ['prompt = "costs $1"', /such as \$1/],
    ['prompt = "run !`ls`"', /fill in or run/],
    ['prompt = "run !{ls"', /not closed/],
    ['prompt = "run !{echo `ls`}"', /cannot be kept/],
    ['prompt = "read @{}"', /not closed/],
  ]
  for (const [text, why] of reasons) assert.match(String(tomlCommand(text)), why, text)
})
