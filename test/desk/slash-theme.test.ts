import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Seat } from '../app/seat.ts'
import { plain, seated } from '../app/seat.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const agents = plain({ amber: 'cat >/dev/null; echo amber' })

const saved = (seat: Seat) => JSON.parse(readFileSync(join(seat.home, 'settings.json'), 'utf8')) as { theme?: string }

test('/theme saves what was typed or picked, and it holds at once', async (t) => {
  const seat = await seated(t, agents)
  golden(t, await seat.type('/theme high-contrast'))
  assert.deepEqual([saved(seat).theme, seat.app.settings.theme], ['high-contrast', 'high-contrast'])
  assert.deepEqual(saved(seat), { ...agents, theme: 'high-contrast' })
  seat.answers.push(['terminal'])
  await seat.type('/theme')
  golden(t, seat.asked)
  assert.equal(saved(seat).theme, 'terminal')
  assert.deepEqual(await seat.type('/theme'), [], 'a card that is left changes nothing')
  assert.deepEqual(await seat.type('/theme drak'), [['error', 'there is no theme "drak"; did you mean "dark"?']])
  assert.deepEqual(seat.turned, [['reload'], ['reload']])
  assert.deepEqual(await seat.complete('theme', 'd'), ['dark'])
})

test('/theme says where its choice is not seen', async (t) => {
  const seat = await seated(t, agents, { NO_COLOR: '1' })
  golden(t, await seat.type('/theme dark'))
})
