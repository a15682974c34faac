import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProgramWindow, keys } from './program-window.ts'
import { Sitting } from './sitting.ts'
import { looks } from './looks.ts'
import { talkers } from './machine.ts'

test(
  'a theme is tried in the list, kept in the settings, and there at the next start',
  { timeout: 120_000 },
  async (t) => {
    const { machine } = talkers(t)
    const window = new ProgramWindow(machine, looks.dark)
    t.after(() => window.end())
    const sitting = new Sitting(window, 'dark')
    await sitting.begun()
    window.type('explain it\r')
    await sitting.shows('See https', '─ alpha · ')
    window.type('/theme\r')
    await sitting.framed('themes', ['terminal (now)', 'Esc goes back'])
    for (const _ of ['dark', 'light', 'high-contrast', 'colour-blind']) window.type(keys.down)
    await sitting.framed('themes-colour-blind', [/› colour-blind/])
    window.type(keys.enter)
    await sitting.shows('The theme is colour-blind')
    const settings = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8'))
    assert.equal(settings.theme, 'colour-blind')
    window.end()

    const again = new ProgramWindow(machine, looks.dark)
    t.after(() => again.end())
    await again.shows(() => again.raw.includes('\x1b[38;5;152m──'))
  },
)
