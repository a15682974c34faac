import { test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noBudget } from '../../src/core/work/budget.ts'
import { DeskApp } from '../../src/desk/desk-app.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { seated } from '../app/seat.ts'

const own = {
  name: 'own',
  kind: 'native',
  model: 'compatible/x',
  baseURL: 'http://there/v1',
  apiKeyEnv: 'THERE',
  contextWindowTokens: 9000,
}

test('a chosen model lasts over a reload; another provider gets neither the address nor the key, and back is back', async (t) => {
  const { io, app, home } = await seated(t, { agents: [own] })
  const { place, settings } = app
  const read = () => readSettings({ home }, { env: io.env })
  const station = await DeskApp.open({ io, place, settings, read, wishes: { budget: noBudget } })
  const agents = () => station.app.settings.agents
  station.setModel('own', { model: 'compatible/y', window: 5000 })
  assert.deepEqual(agents(), [{ ...own, model: 'compatible/y', contextWindowTokens: 5000 }])
  station.setModel('own', { model: 'groq/z' })
  const { name, kind, contextWindowTokens } = own
  assert.deepEqual(agents(), [{ name, kind, contextWindowTokens, model: 'groq/z' }])
  writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: [{ ...own, contextWindowTokens: 8000 }] }))
  await station.reload()
  station.setLeash('read')
  assert.deepEqual(agents(), [{ name, kind, contextWindowTokens: 8000, model: 'groq/z', leash: 'read' }])
  station.setModel('own', { model: 'compatible/x', window: 1 })
  assert.deepEqual(agents(), [{ ...own, contextWindowTokens: 8000, leash: 'read' }])
})
