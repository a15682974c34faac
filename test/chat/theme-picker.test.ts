import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { ThemeName } from '../../src/core/talk/themes.ts'
import { themes } from '../../src/chat/style/theme-table.ts'
import { sit } from './sitting.ts'
import { keys } from '../screen/program-window.ts'
import { goldenOf } from '../golden.ts'
import { until } from '../until.ts'

const golden = goldenOf(import.meta.filename)
const timeout = 20_000
const coloured = { env: { TERM: 'xterm-256color' } }

test('the list shows each theme at once, Enter keeps it and Esc goes back', { timeout }, async (t) => {
  const { desk, terminal, seen, gone } = sit(t, {}, coloured)
  await seen('Ask anything')
  /** Presses a key, and waits until the rules have the accent of that theme. */
  const pressed = async (key: string, name: ThemeName) => {
    const from = terminal.written.length
    terminal.press(key)
    await until(() => terminal.written.slice(from).includes(themes[name].dark.accent('──')))
  }
  const picked = desk.screen!.theme!('terminal', new AbortController().signal)
  const lines = await seen('(now)')
  golden(t, lines.slice(lines.findIndex((line) => line.includes('Theme'))))
  await pressed(keys.down, 'dark')
  await pressed(keys.down, 'light')
  await pressed(keys.down, 'high-contrast')
  terminal.press(keys.enter)
  assert.equal(await picked, 'high-contrast')
  await gone('(now)')

  const left = desk.screen!.theme!('high-contrast', new AbortController().signal)
  await seen('(now)')
  await pressed(keys.up, 'light')
  await pressed(keys.escape, 'high-contrast')
  assert.equal(await left, undefined)
})

test(
  'the theme of the settings is shown, a changed one too, and a cancelled list goes back',
  { timeout },
  async (t) => {
    const { desk, terminal, seen, gone } = sit(t, { standing: { theme: 'dark' } }, coloured)
    await seen('Ask anything')
    const shows = (name: ThemeName) => until(() => terminal.written.includes(themes[name].dark.accent('──')))
    await shows('dark')
    desk.happen({ type: 'standing', standing: { ...desk.standing(), theme: 'colour-blind' } })
    await shows('colour-blind')
    const cancel = new AbortController()
    const picked = desk.screen!.theme!('colour-blind', cancel.signal)
    await seen('(now)')
    cancel.abort()
    assert.equal(await picked, undefined)
    await gone('(now)')
  },
)

test('with NO_COLOR no theme has a colour', { timeout }, async (t) => {
  const { desk, terminal, seen } = sit(t, { standing: { theme: 'dark' } })
  await seen('Ask anything')
  desk.happen({ type: 'standing', standing: { ...desk.standing(), theme: 'light', leash: 'read' } })
  await seen('leash read')
  assert.deepEqual(terminal.written.match(/\x1b\[(?:3[0-8]|9[0-7])[;m]/g), null)
})
