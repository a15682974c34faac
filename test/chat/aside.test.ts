import { test } from 'node:test'
import { sit } from './sitting.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test('an answer beside the work is apart: under its title, dimmed, with a line at its side', async (t) => {
  const { desk, seen, terminal } = sit(t, {}, { env: { TERM: 'xterm' } })
  const title = 'aside: which of all the birds in this long question, which needs more than one line, is it?'
  desk.happen({
    type: 'said',
    how: 'aside',
    text: `${title}\nA **plover**:\n\n- small\n- grey\n\namber · 12 tokens · not kept`,
  })
  const lines = await seen('not kept')
  golden(
    t,
    lines.slice(
      0,
      lines.findIndex((line) => line.includes('Ask anything')),
    ),
  )
  const dim = '\x1b[2m  ┆ small'
  golden(t, terminal.written.includes(dim.replace('small', '')))
})
