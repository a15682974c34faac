import { describe, test } from 'node:test'
import { council } from './council.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looksOf, sizes } from './looks.ts'
import { Sitting, rested, uncounted } from './sitting.ts'

const atRest = rested('k tokens')

/** Hides how long an agent has been asked too. */
const timeless = (row: string) =>
  uncounted(row).replace(
    /(\d+)( s · I look at what is there)/,
    (_, time: string, words: string) => `#${words}${' '.repeat(time.length - 1)}`,
  )

const options = { timeout: 120_000 }

/** The size that most people have, and the widest. */
const seen = [sizes[0]!, sizes.at(-1)!]

describe('golden frames of a turn in a framework', { concurrency: 2 }, () => {
  for (const [look, shown] of looksOf('dark')) {
    test(`from its cost to its end, ${look}`, options, async (t) => {
      const { machine, goOn } = council(t)
      const window = new ProgramWindow(machine, shown)
      t.after(() => window.end())
      const sitting = new Sitting(window, look, timeless)
      await sitting.begun()
      window.type('/think consensus make a pdf of notes.md\r')
      await sitting.framed(
        'think-consent',
        ['termaite asks', 'gamma: what works here', 'Esc: stop here and keep the text'],
        seen,
      )
      window.type(keys.enter)
      const asked = [/◌ what works here +gamma +\d+ s · I look/, /◌ plan B +alpha +\d+ s · I look/, '3 of 5']
      await sitting.framed('think-advisors', [...asked, /✓ script draft +beta/, /Esc cancels$/m], seen)
      goOn()
      await sitting.framed(
        'think-done',
        [/stepping\s+back/, 'is printed', /─ alpha · .* consensus · 6 calls/, 'alpha ●', atRest],
        seen,
      )

      window.type('/think consensus make a pdf in vain\r')
      await sitting.shows('Esc: stop here and keep the text')
      window.type(keys.enter)
      await sitting.framed(
        'think-council',
        ['every known approach failed', 'Esc: No, stop and say what was tried'],
        seen,
      )
      window.type(keys.escape)
      await sitting.framed(
        'think-unmet',
        [
          'Not achieved',
          /✗ not achieved[^]*─ alpha · .* consensus · \d+ calls/,
          'alpha ●',
          /~\d\d\.\dk tokens\s*$/,
          atRest,
        ],
        seen,
      )
    })
  }
})
