import { test } from 'node:test'
import assert from 'node:assert/strict'
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyId } from '@earendil-works/pi-tui'
import { actionOf, bindKeys, chatKeys, keyNames, keyOf, keySections, libraryKeys } from '../../../src/chat/desk/keys.ts'
import { changeableActions, fixedKeys, keyClashes, sendableKey, usualKeys } from '../../../src/core/screen/chat-keys.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { goldenOf } from '../../golden.ts'
import { sit } from '../sitting.ts'

const golden = goldenOf(import.meta.filename)
const timeout = 20_000

test('the chat acts on a chosen key and no longer on the usual one, and the page of keys shows it', (t) => {
  t.after(() => bindKeys())
  const actions = (...keys: string[]) => keys.map((key) => actionOf('screen', key) ?? actionOf('input', key))
  assert.deepEqual(actions('\x0b', '\x10', '\x1bOP', '\x12'), ['palette', undefined, 'palette', 'search'])
  bindKeys({ palette: ['ctrl+p'], search: ['alt+r', 'f3'] })
  assert.deepEqual(actions('\x0b', '\x10', '\x1bOP', '\x12', '\x1br', '\x1bOR'), [
    undefined,
    'palette',
    undefined,
    undefined,
    'search',
    'search',
  ])
  assert.deepEqual([keyOf('palette'), keyOf('search'), keyOf('edit')], ['Ctrl+P', 'Alt+R', 'Ctrl+G'])
  const rows = keySections().flatMap(({ rows }) => rows)
  for (const [action, keys] of [
    ['palette', 'Ctrl+P'],
    ['search', 'Alt+R, F3'],
  ] as const) {
    const { does } = { ...chatKeys.screen, ...chatKeys.input }[action]
    assert.deepEqual(
      rows.filter((row) => row.does === does).map((row) => row.keys),
      [keys],
    )
  }
  golden(
    t,
    keySections().flatMap(({ title }) => (/Ctrl|Alt/.test(title) ? [title] : [])),
  )
})

test('every usual key can be chosen, but for the keys that are typed, and none of them clashes', () => {
  const all = { ...chatKeys.screen, ...chatKeys.input }
  for (const action of changeableActions) {
    assert.equal(all[action].keys, usualKeys[action])
    for (const key of usualKeys[action]) assert.match(key, /^ctrl\+[hj]$/.test(key) ? /./ : sendableKey, action)
  }
  assert.deepEqual(keyClashes(usualKeys), [])
})

test('the keys that edit the text and move in the conversation cannot be chosen', () => {
  const held = libraryKeys
    .getKeys('tui.editor.cursorLineStart')
    .concat(libraryKeys.getKeys('tui.editor.cursorWordLeft'), libraryKeys.getKeys('tui.editor.deleteWordForward'))
    .concat(libraryKeys.getKeys('tui.altScreen.top'), libraryKeys.getKeys('tui.altScreen.nextPrompt'))
  const free = held.filter((key: KeyId) => sendableKey.test(key) && fixedKeys[key] === undefined)
  assert.deepEqual(free, [])
  for (const key of ['ctrl+i', 'ctrl+m', 'ctrl+h', 'ctrl+[', 'ctrl+1', 'ctrl+shift+p', 'x', 'tab', 'escape', 'cmd+k'])
    assert.doesNotMatch(key, sendableKey)
  assert.equal(keyNames(['pageUp']), 'PgUp')
})

test('the settings say which key is wrong and why', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const reading = async (keys: object) => {
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ keys }))
    return readSettings({ home }, { env: {} }).then(
      (settings) => settings.keys,
      (error: Error) => error.message.replaceAll(home, '<home>'),
    )
  }
  assert.deepEqual(await reading({ palette: 'ctrl+p', send: ['enter', 'alt+s'] }), {
    palette: ['ctrl+p'],
    send: ['enter', 'alt+s'],
  })
  assert.deepEqual(await reading({ palette: 'ctrl+o', openAll: 'f2' }), { palette: ['ctrl+o'], openAll: ['f2'] })
  const problems: unknown[] = []
  for (const keys of [
    { send: [] },
    { pallete: 'ctrl+p' },
    { palette: 'ctrl+i' },
    { palette: ['ctrl+p', 'x'] },
    { palette: 'ctrl+o' },
    { palette: 'ctrl+p', search: 'ctrl+p' },
    { edit: 'ctrl+a' },
    { board: 'ctrl+c' },
  ])
    problems.push(await reading(keys))
  golden(t, problems)
})

test('changed settings change the keys of a chat that is open', { timeout }, async (t) => {
  const { desk, terminal, seen, gone } = sit(t, { standing: { keys: { board: ['f2'], palette: ['ctrl+p'] } } })
  t.after(() => bindKeys())
  await seen('Ctrl+P finds everything')
  terminal.press('\x10')
  await seen('Commands')
  terminal.press('\x1b')
  await gone('Commands')
  desk.happen({ type: 'standing', standing: { ...desk.standing(), keys: { palette: ['f3'] }, leash: 'read' } })
  await seen('leash read')
  terminal.press('\x1bOR')
  await seen('Commands')
})
