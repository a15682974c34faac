import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'

/** An answer that would set the clipboard and the title, colour the rest, and turn a line round. */
const answer = String.raw`printf 'one \033]52;c;eA==\007two \033]0;title\007\033[31mthree \302\233 31mfour \342\200\256five \360\237\221\251\342\200\215\360\237\221\247\n'`

test(
  'words of an agent reach a terminal as plain text, in an answer, a list, a look back and an export',
  inTerminal,
  async (t) => {
    const machine = new Machine(t)
    machine.settings({ agents: [{ name: 'mine', command: answer, contextWindowTokens: 1000 }] })
    const shown: Record<string, string> = {}
    for (const args of [
      ['-p', 'say \u202eit'],
      ['sessions', 'show'],
      ['sessions', 'list'],
      ['sessions', 'export'],
      ['sessions', 'export', '--json'],
    ])
      shown[args.slice(0, 2).join(' ')] = (await typed(machine, args, [])).out
    for (const [command, text] of Object.entries(shown)) {
      // script(1) and the terminal add line ends; nothing else that steers a terminal may be there.
      assert.doesNotMatch(
        text.replaceAll('\r\n', '\n'),
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        command,
      )
    }
    assert.match(shown['-p say \u202eit']!, /one two three .*four ⟨U\+202E⟩five 👩\u200d👧/)
  },
)
