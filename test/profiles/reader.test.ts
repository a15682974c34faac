import { test } from 'node:test'
import assert from 'node:assert/strict'
import { read } from '../../src/core/screen/reading.ts'
import { claude } from '../../src/profiles/claude.ts'
import { codex } from '../../src/profiles/codex.ts'
import { gemini } from '../../src/profiles/gemini.ts'

const rule = '─'.repeat(40)

/** Screens as they were seen, each with the state it shows; the placeholder of an idle one often stays while it works. */
const screens = [
  [claude, 'idle', [rule, '❯\u00a0', rule, '  ⏸ manual mode on · ? for shortcuts']],
  [claude, 'busy', ['· Thinking…', rule, '❯\u00a0', rule, '  esc to interrupt']],
  [claude, 'asking', ['Do you want to proceed?', '❯ 1. Yes', '  2. No', 'Esc to cancel · Tab to amend']],
  [gemini, 'idle', ['▄▄▄▄', ' >   Type your message or @path/to/file', '▀▀▀▀']],
  [gemini, 'busy', ['⠼ Thinking... (esc to cancel, 2s)', '▄▄▄▄', ' >   Type your message or @path/to/file', '▀▀▀▀']],
  [gemini, 'asking', ['Allow execution of [Shell]?', '● 1. Allow once', '  2. No']],
  [codex, 'idle', ['› Ask Codex to do anything', '', '  mock-model default · ~/project']],
  [
    codex,
    'busy',
    ['◦ Working (1s • esc to interrupt)', '› Ask Codex to do anything', '  mock-model default · ~/project'],
  ],
  [codex, 'asking', ['› 1. Trust and continue', '  2. Quit']],
] as const

test('the marks of a screen tell its state', () => {
  assert.deepEqual(
    screens.map(([profile, , rows]) => {
      const screen = { rows: [...rows], cols: 80, cursor: { row: 0, col: 0 } }
      return [profile.name, read({ screen, children: 1, quietMs: 60_000 }, profile.reader)]
    }),
    screens.map(([profile, state]) => [profile.name, { state, by: 'pattern' }]),
  )
})
