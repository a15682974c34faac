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
  const errors = [
    `${json}:3: leash: found "aks"; did you mean "ask"?`,
    `${json}:5: agents[0].comand: unknown key; did you mean "command"?`,
    `${json}:5: agents[0].contextWindowTokens: found 0, allowed: a whole number of 1 or more.`,
    `${json}:5: agents[0].command: missing; a command, or the profile of a known CLI, is needed.`,
    `${json}:6: agents[1].name: found "user", allowed: any name but auto, user and termaite.`,
    `${json}:7: agents[2].name: found "amber" twice, allowed: a name no other agent has.`,
    `${json}:9: permissions.deny[1]: "bash(" is not a rule: the closing ) is missing.`,
    `${json}:10: hooks.Stop[0].hooks[0].type: found "prompt"; only "command" is run here.`,
    `${yaml}:1: sharing: found "some", allowed: one of "all", "ask".`,
    `${yaml}:2: timeoutSeconds: found -1, allowed: a number above 0.`,
    'rotation strategy: found "randm", allowed: round-robin, exhaustion, random, measured.',
  ]
  const told = await machine.call(['config', 'validate'], { env })
  assert.deepEqual(
    [told.code, told.out, told.err],
    [2, '', `termaite: 11 errors in the settings:\n${errors.join('\n')}\nTo edit the settings: termaite config edit\n`],
  )
  const { code, out } = await machine.call(['config', 'validate', '--json'], { env })
  assert.deepEqual([code, JSON.parse(out)], [2, { ok: false, errors }])
})

test('validate names every line of a file that is not JSON', async (t) => {
  const machine = new Machine(t)
  mkdirSync(machine.home)
  const file = join(machine.home, 'settings.json')
  writeFileSync(file, '{\n  "leash" "ask",\n  "sharing": all,\n  "agents": []\n')
  const { code, err } = await machine.call(['config', 'validate'])
  assert.deepEqual(
    [code, err],
    [
      2,
      `termaite: 3 errors in the settings:\n${file}:2: is not JSON: colon expected.\n${file}:3: is not JSON: invalid symbol.\n${file}:5: is not JSON: close brace expected.\nTo edit the settings: termaite config edit\n`,
    ],
  )
})

test('in a terminal one may go back into the editor until it is right', inTerminal, async (t) => {
  const machine = new Machine(t)
  machine.agents({ amber: 'cat' })
  const good = join(machine.folder, 'good')
  writeFileSync(good, readFileSync(join(machine.home, 'settings.json')))
  const EDITOR = `sh -c 'grep -q broken "$0" && cp ${good} "$0" || echo broken > "$0"'`
  const card = /settings\.json:1: is not JSON[^]*1 Edit it again\s+3 Leave the file as it is\s+> /
  const { code, out } = await typed(machine, ['config', 'edit'], [[card, '1\r']], { EDITOR })
  assert.equal(code, 0, out)
  assert.match(out, /The settings are valid\./)
})
