import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from './program.ts'
import { inTerminal, typed } from './terminal.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

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
  const { code } = await machine.call(['config', 'edit'], { env: { EDITOR: `sed -i s/ask/read/` } })
  assert.deepEqual([code, readdirSync(machine.home)], [0, ['config.yaml']])
  assert.equal(readFileSync(join(machine.home, 'config.yaml'), 'utf8'), 'leash: read\n')
})

test('a fault after an edit is reported with exit 2, and so is an editor that failed', async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: 'cat' })
  const wrong = await machine.call(['config', 'edit'], { env: { EDITOR: `sed -i s/amber/user/` } })
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /^termaite: .*settings\.json.*agents\[0\]\.name: found "user"/)
  const failed = await machine.call(['config', 'edit'], { env: { EDITOR: 'false' } })
  assert.deepEqual(
    [failed.code, failed.err],
    [1, `termaite: false ended with 1; the file is ${join(machine.home, 'settings.json')}.\n`],
  )
})

test('validate reports every error of every file, each with its file, its line and the way to mend it', async (t) => {
  const machine = new Machine(t)
  mkdirSync(machine.home)
  const [json, yaml] = ['settings.json', 'config.yaml'].map((name) => join(machine.home, name)) as [string, string]
  writeFileSync(
    json,
    `{
  // A comment is no error.
  "leash": "aks",
  "agents": [
    { "name": "amber", "contextWindowTokens": 0, "comand": "cat" },
    { "name": "user", "contextWindowTokens": 1000, "command": "cat" },
    { "name": "amber", "contextWindowTokens": 1000, "command": "cat" }
  ],
  "permissions": { "deny": ["bash", "bash("] },
  "hooks": { "Stop": [{ "hooks": [{ "type": "prompt" }] }] }
}
`,
  )
  writeFileSync(yaml, 'sharing: some\ntimeoutSeconds: -1\n')
  const env = { TERMAITE_ROTATION: 'randm' }
  const told = await machine.call(['config', 'validate'], { env })
  golden(t, [told.code, told.out, told.err], { [machine.folder]: '<machine>' })
  const { code, out } = await machine.call(['config', 'validate', '--json'], { env })
  golden(t, [code, JSON.parse(out)], { [machine.folder]: '<machine>' })
})

test('validate names every line of a file that is not JSON', async (t) => {
  const machine = new Machine(t)
  mkdirSync(machine.home)
  const file = join(machine.home, 'settings.json')
  writeFileSync(file, '{\n  "leash" "ask",\n  "sharing": all,\n  "agents": []\n')
  const { code, err } = await machine.call(['config', 'validate'])
  golden(t, [code, err], { [machine.folder]: '<machine>' })
})

test('in a terminal one may go back into the editor until it is right', inTerminal, async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: 'cat' })
  const good = join(machine.folder, 'good')
  writeFileSync(good, readFileSync(join(machine.home, 'settings.json')))
  const EDITOR = `sh -c 'grep -q broken "$0" && cp ${good} "$0" || echo broken > "$0"'`
  const card = /settings\.json:1: is not JSON[^]*1 Edit it again\s+2 Leave the file as it is\s+> /
  const { code, out } = await typed(machine, ['config', 'edit'], [[card, '1\r']], { EDITOR })
  assert.equal(code, 0, out)
  assert.match(out, /The settings are valid\./)
})
