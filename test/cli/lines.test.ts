import { test } from 'node:test'
import assert from 'node:assert/strict'
import { stripAnsi } from '../../src/base/text/ansi.ts'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'

/** The lines that a person reads, without the sequences by which the line editor holds its place. */
const read = (out: string) =>
  stripAnsi(out)
    .split(/\r?\n/)
    .map((line) => line.trim())

for (const [how, env, settings] of [
  ['a dumb terminal', { TERM: 'dumb' }, {}],
  ['a screen reader by its variable', { TERMAITE_SCREEN_READER: '1' }, {}],
  ['a screen reader by its setting', {}, { screenReader: true }],
  ['a variable that goes before the setting', { TERMAITE_SCREEN_READER: '1' }, { screenReader: false }],
] as const)
  test(`the chat is plain lines for ${how}`, { ...inTerminal, timeout: 60_000 }, async (t) => {
    const machine = new Machine(t)
    machine.agents({ good: 'cat >/dev/null; echo fine' }, { ...settings, rotationStrategy: 'exhaustion' })
    const { out, code } = await typed(
      machine,
      [],
      [
        [/Type a request, or \/help\.[^]*> /, 'hello\r'],
        [/Done by good/, '/exit\r'],
      ],
      env,
    )
    const lines = read(out)
    assert.equal(code, 0)
    assert.deepEqual(
      ['A new conversation. Type a request, or /help.', 'good says:', 'fine'].filter((line) => !lines.includes(line)),
      [],
    )
    assert.match(lines.join('\n'), /^Done by good in [\d.]+ s, ~\d+ tokens\.$/m)
    assert.match(lines.join('\n'), /^Continue with: termaite --cwd /m)
    // The output has nothing of a screen: no other buffer, no colours.
    assert.equal(/\x1b\[\?1049h|\x1b\[\d+(;\d+)*m/.test(out), false)
  })

test(
  'prompts that were queued when the chat is left are printed, and leaving a turn shows in the exit code',
  { ...inTerminal, timeout: 60_000 },
  async (t) => {
    const machine = new Machine(t)
    machine.agents({ slow: 'cat >/dev/null; echo begun >&2; sleep 600' })
    const { out, code } = await typed(
      machine,
      ['a long one'],
      [
        [/Asked: a long one/, 'and this after it\r'],
        [/Waiting to be sent: and this after it/, '/exit\r'],
      ],
      { TERM: 'dumb' },
    )
    assert.equal(code, 130)
    assert.match(read(out).join('\n'), /^Not sent: and this after it\nContinue with: /m)
  },
)
