import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathOf } from '../system-path.ts'
import { Machine } from '../cli/program.ts'
import { looksOf, sizes } from './looks.ts'
import { keys, ProgramWindow } from './program-window.ts'
import { Sitting, uncounted } from './sitting.ts'

const settings = `{
  "thinking": "off",
  "metaInstruction": false,
  "agents": [
    // The house agent.
    { "name": "alpha", "command": "cat >/dev/null; echo one", "contextWindowTokens": 100000 },
    { "name": "crush", "profile": "crush", "contextWindowTokens": 100000, "enabled": false } // not here
  ]
}
`

for (const [look, shown] of looksOf('dark'))
  test(`the agents are a table with keys (${look})`, { timeout: 120_000 }, async (t) => {
    const machine = new Machine(t)
    machine.settings(settings)
    const window = new ProgramWindow(machine, { ...shown, env: { ...shown.env, PATH: pathOf() } })
    t.after(() => window.end())
    const at = new Sitting(window, look, uncounted)
    await at.begun()
    window.type('/agents')
    window.type(keys.enter)
    await at.framed('agents', ['── Agents', '2 crush', 'Esc leaves'], [sizes[0]!, sizes.at(-1)!])
    window.type(' ')
    await at.shows('○ 1 alpha')
    window.type(' ')
    await at.shows('● 1 alpha')
    window.type(']')
    await at.shows('1 crush', '2 alpha')
    window.type('a')
    await at.framed('agents-add', ['Add an agent', 'A command of'], [sizes[0]!])
    window.type(keys.up)
    window.type(keys.enter)
    await at.shows('Name:')
    window.type('quail')
    window.type(keys.enter)
    await at.shows('Command of quail:')
    window.type('cat >/dev/null; echo two')
    window.type(keys.enter)
    await at.shows('● 3 quail')
    window.type('d')
    await at.framed('agents-remove', ['y does it'], [sizes[0]!])
    window.type('n')
    await at.shows('Esc leaves')
    window.type(keys.escape)
    await at.shows('Ask anything', 'quail ●')
    const text = readFileSync(join(machine.home, 'settings.json'), 'utf8')
    assert.match(text, /crush[^\n]* \/\/ not here\n +\/\/ The house agent\.\n +\{ "name": "alpha"[^]*"quail"/)
  })
