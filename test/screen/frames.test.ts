import { describe, test } from 'node:test'
import { ProgramWindow, keys } from './program-window.ts'
import { looks, looksOf, narrow } from './looks.ts'
import { recordedClaude, talkers } from './machine.ts'
import { Sitting, rested } from './sitting.ts'

const options = { timeout: 120_000 }

describe('golden frames', { concurrency: 2 }, () => {
  for (const [look, shown] of Object.entries(looks)) {
    test(`the chat from its welcome to its errors, ${look}`, options, async (t) => {
      const { machine, goOn } = talkers(t)
      const window = new ProgramWindow(machine, shown)
      t.after(() => window.end())
      const sitting = new Sitting(window, look)
      await sitting.begun()
      await sitting.framed('welcome', ['Welcome to', /0 tokens$/])
      if (look === 'dark') await sitting.framed('welcome', [/TERMAITE|▀█▀ █▀▀/], narrow)

      window.type('/')
      await sitting.framed('commands', [/› \/help/])
      await sitting.emptied()
      window.type('look at @ad')
      await sitting.framed('files', [/› src\/add\.ts/])
      await sitting.emptied()
      window.type(keys.f1)
      await sitting.framed('palette', ['Commands', /› \/help/])
      window.type(keys.escape)
      await window.shows((screen) => !screen.includes('Commands'))
      window.type('?')
      await sitting.framed('keys', ['What the first character means', 'Ctrl+J', 'Esc closes'])
      if (look === 'dark') await sitting.framed('keys', ['What the first'], narrow)
      window.type(keys.escape)
      await window.shows((screen) => !screen.includes('What the first'))

      window.type('explain it\r')
      const answered = ['See https', '─ alpha · ', rested('~73 tokens')]
      await sitting.shows(...answered)
      // Code has its colours a moment later: `export` is bold.
      if (look !== 'plain') await window.shows(() => window.frame().styles.some((row) => / 6:b 12:- /.test(row)))
      await sitting.framed('answered', answered)
      if (look === 'dark') await sitting.framed('answered', ['─ alpha', 'Ask anything'], narrow)
      window.type('/cls\r')
      await window.shows((screen) => !/See https|─ alpha/.test(screen))
      await sitting.framed('empty', [rested('~73 tokens')])

      window.type('long please\r')
      await sitting.shows('item 120', '─ alpha · ', rested('~956 tokens'))
      window.type('stream please\r')
      await sitting.framed('streaming', ['The first half', /[⠋⠙⠸⠴⠦⠇] alpha/])
      window.type(keys.pageUp.repeat(4))
      await sitting.shows('Ctrl+End')
      goOn()
      await sitting.framed('long-history', ['1 more below', rested('~1.9k tokens')])
      window.type(keys.ctrlEnd)
      await sitting.shows('and the second.', '─ alpha · ')

      window.type('fail please\r')
      await sitting.framed('unknown-failure', ["Was that the end of beta's quota?", '› 1 No', 'Esc: no answer'])
      window.type(keys.enter)
      const error = ['this one as well', '✗ no agent', 'doctor', '→ No, it was', rested('~1.9k tokens')]
      await sitting.framed('error', error)
      window.type('quota please\r')
      await sitting.framed('quota', ['cannot go on now', /is picked in [1-9] s/, '○', 'Esc: Stop the turn'])
      window.type(keys.down + keys.down)
      window.type(keys.enter)
      await sitting.framed('parked', ['⏸ waiting for alpha', / waits (for alpha )?until .*/, rested('~1.9k tokens')])
    })
  }

  for (const [look, shown] of looksOf('dark')) {
    test(`questions and acts of an agent, ${look}`, options, async (t) => {
      const { machine, env } = recordedClaude(t)
      const window = new ProgramWindow(machine, { ...shown, env: { ...shown.env, ...env } })
      t.after(() => window.end())
      const sitting = new Sitting(window, look)
      await sitting.begun()
      window.type('play allowed\r')
      await sitting.framed('permission', [
        'asks for permission',
        '$ touch made.txt',
        'Esc: No',
        'answer · Bash ·',
        '◌ Bash',
      ])
      if (look === 'dark') await sitting.framed('permission', ['claude asks'], narrow)
      window.type(keys.enter)
      await sitting.shows('─ claude · ', rested('$0.003'))
      window.type(keys.ctrlO)
      await sitting.framed('tool-call', ['completed with no output', '─ claude · ', rested('$0.003')])
      window.type('play change\r')
      await sitting.framed('diff', ['permission', '+ ho', 'Esc: No', 'answer · Edit ·', 'new_string: ho'])
      window.type(keys.enter)
      await sitting.framed('changed', ['+1 −1', '+ ho', 'That is all', rested('$0.008')])
      window.type('play question\r')
      await sitting.framed('choice', [
        'Which colour?',
        'Esc: do not answer; the agent continues',
        'answer · AskUserQuestion ·',
        '◌ Ask',
      ])
    })
  }
})
