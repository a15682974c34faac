import { test } from 'node:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { pathOf } from '../system-path.ts'
import { ProgramWindow, keys } from './program-window.ts'

test(
  'a CLI that was refused for want of trust works in the same chat after /trust',
  { timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    const bin = join(machine.folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'crush'), '#!/bin/sh\ncat >/dev/null\necho "Crush answers."\n', { mode: 0o755 })
    writeFileSync(join(machine.project, 'crush.json'), '{"mcp":{}}')
    const agents = [{ name: 'crush', profile: 'crush', contextWindowTokens: 200_000 }]
    machine.settings({ metaInstruction: false, thinking: 'off', leash: 'all', agents })
    const window = new ProgramWindow(machine, { env: { PATH: pathOf(bin) }, args: ['begin'] })
    t.after(() => window.end())
    await window.shows(/Leash all[^]*Enter answers/)
    window.type('1')
    const card = /crush\.json[^]*Enter answers/
    await window.shows(card)
    window.type(keys.enter)
    await window.shows(/✗ no agent/)
    window.type('/trust')
    await window.shows('› /trust')
    window.type(keys.enter)
    await window.shows(card)
    window.type('2')
    await window.shows('Trusted from')
    window.type('again')
    window.type(keys.enter)
    await window.shows('Crush answers.')
  },
)
