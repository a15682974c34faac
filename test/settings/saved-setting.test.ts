import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { saveSetting } from '../../src/settings/saved-setting.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

/** A home with these files, and what a file holds after the theme was saved. */
function homeWith(t: TestContext, files: Record<string, string>) {
  const home = mkdtempSync(join(tmpdir(), 'termaite-test-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text)
  return { home, read: (name: string) => readFileSync(join(home, name), 'utf8') }
}

test('settings that cannot be written are named', async (t) => {
  const { home } = homeWith(t, {})
  await assert.rejects(saveSetting(join(home, 'gone'), 'vim', true), ({ message }: Error) =>
    message.startsWith(`cannot write ${join(home, 'gone')}/settings`),
  )
})

test('one setting of settings.json changes, and everything else in the file stays', async (t) => {
  const before = '\uFEFF{\n\t// mine\n\t"leash": "edit", // no more\n\t"agents": [],\n}\n'
  const { home, read } = homeWith(t, { 'settings.json': before })
  await saveSetting(home, 'theme', 'dark')
  assert.equal(
    read('settings.json'),
    '\uFEFF{\n\t// mine\n\t"leash": "edit", // no more\n\t"agents": [],\n\t"theme": "dark",\n}\n',
  )
  await saveSetting(home, 'theme', 'light')
  assert.equal((await readSettings({ home }, { env: {} })).theme, 'light')
  const kept = read('settings.json')
  await saveSetting(home, 'theme', 'light')
  assert.equal(read('settings.json'), kept)
})

test('without a file there is a new one, and config.yaml is changed where it is the only one', async (t) => {
  const none = homeWith(t, {})
  await saveSetting(none.home, 'theme', 'colour-blind')
  assert.equal(none.read('settings.json'), '{\n  "theme": "colour-blind"\n}\n')
  const { home, read } = homeWith(t, { 'config.yaml': '# mine\nleash: edit # no more' })
  await saveSetting(home, 'theme', 'dark')
  await saveSetting(home, 'theme', 'light')
  assert.equal(read('config.yaml'), '# mine\nleash: edit # no more\ntheme: "light"\n')
  assert.equal(existsSync(join(home, 'settings.json')), false)
})

test('a file that is broken, or that no line fits into, is left alone', async (t) => {
  const problems: string[] = []
  for (const [name, text] of [
    ['settings.json', '{ "leash": "loose" }'],
    ['config.yaml', '{ leash: edit }'],
  ] as const) {
    const { home, read } = homeWith(t, { [name]: text })
    const told = await saveSetting(home, 'theme', 'dark').then(
      () => 'saved',
      (error: Error) => error.message.replaceAll(home, '<home>'),
    )
    problems.push(told)
    assert.equal(read(name), text)
  }
  golden(t, problems)
})
