import { test } from 'node:test'
import { stepsSpent } from '../../src/core/work/budget.ts'
import { sit } from '../chat/sitting.ts'
import { frameOf } from './frame.ts'
import { golden } from './golden.ts'
import { looks, sizes } from './looks.ts'

/** A summary inside a turn, and the end of a turn that was stopped before its work was done. */
for (const look of Object.keys(looks))
  test(`a long turn that stops unfinished, ${look}`, { timeout: 15_000 }, async (t) => {
    const { env, background } = looks[look]!
    const place = { env: { TERM: 'xterm', ...env }, ...(background ? { background: `rgb:${background}` } : {}) }
    const { desk, terminal, seen, end } = sit(t, {}, place)
    await seen('Welcome to')
    const by = 'native'
    desk.turn(
      't',
      { type: 'prompt', text: 'Read every page.', by: 'user' },
      { type: 'summary', text: 'Pages 1 to 41 are read.', step: 41, tokens: { before: 24_176, after: 1_022 }, by },
      { type: 'note', text: 'The older steps could not be summarised: overloaded', by },
      { type: 'reply', text: 'I read on.', step: 50, by },
      {
        type: 'end',
        outcome: { ok: false, failure: stepsSpent(50, '--max-steps, or "maxSteps" in the settings,') },
        by,
      },
    )
    for (const { cols, rows } of sizes) {
      terminal.resize(cols, rows)
      await seen(new RegExp(`^──[^\\n]{${cols - 4}}──$[^]*Nothing is lost`, 'm'))
      golden(`unfinished-${cols}x${rows}`, look, frameOf(terminal.emulator))
    }
    terminal.press('\x04')
    await end
  })
