import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'

test('config edit opens the settings, and makes them where there are none', async (t) => {
  const machine = new Machine(t)
  const edited = await machine.run(['config', 'edit'], {
    env: { EDITOR: `sed -i 's/"agents": \\[\\]/"leash": "edit"/'` },
  })
  assert.deepEqual([edited.code, edited.out], [0, 'The settings are valid.\n'])
  const { leash } = JSON.parse(readFileSync(join(machine.home, 'settings.json'), 'utf8')) as { leash: string }
  assert.equal(leash, 'edit')
})

test('settings in a config.yaml are edited there: a fresh settings.json would stand in their way', async (t) => {
  const machine = new Machine(t)
  mkdirSync(machine.home)
  writeFileSync(join(machine.home, 'config.yaml'), 'leash: ask\n')
  const { code } = await machine.run(['config', 'edit'], { env: { EDITOR: `sed -i s/ask/read/` } })
  assert.deepEqual([code, readdirSync(machine.home)], [0, ['config.yaml']])
  assert.equal(readFileSync(join(machine.home, 'config.yaml'), 'utf8'), 'leash: read\n')
})

test('what is wrong after an edit is told with exit 2, and so is an editor that failed', async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: 'cat' })
  const wrong = await machine.run(['config', 'edit'], { env: { EDITOR: `sed -i s/amber/user/` } })
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /^termaite: .*settings\.json.*agents\[0\]\.name: found "user"/)
  const failed = await machine.run(['config', 'edit'], { env: { EDITOR: 'false' } })
  assert.deepEqual(
    [failed.code, failed.err],
    [1, `termaite: false ended with 1; the file is ${join(machine.home, 'settings.json')}.\n`],
  )
})

test('in a terminal one may go back into the editor until it is right', inTerminal, async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: 'cat' })
  const good = join(machine.folder, 'good')
  writeFileSync(good, readFileSync(join(machine.home, 'settings.json')))
  const EDITOR = `sh -c 'grep -q broken "$0" && cp ${good} "$0" || echo broken > "$0"'`
  const card = /settings\.json:1: is not JSON[^]*1 Edit again\s+2 Leave the file as it is\s+> /
  const { code, out } = await typed(machine, ['config', 'edit'], [[card, '1\r']], { EDITOR })
  assert.equal(code, 0, out)
  assert.match(out, /The settings are valid\./)
})
