import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { looks } from './looks.ts'
import { Sitting, rested, uncounted } from './sitting.ts'

test(
  'a goal goes on until its check passes, is seen in the status line, and ends with the chat',
  { timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    execFileSync('git', ['init', '-q'], { cwd: machine.project })
    const stay = join(machine.folder, 'stay')
    machine.agents(
      { alpha: `cat >/dev/null; while [ -e ${stay} ]; do sleep 0.02; done; echo one >> work.txt; echo Added a line.` },
      { metaInstruction: false },
    )
    const window = new ProgramWindow(machine, { ...looks.dark, env: { ...looks.dark!.env, SHELL: '/bin/sh' } })
    t.after(() => window.end())
    const sitting = new Sitting(window, 'dark', (row) => uncounted(row).replace(/\d\.\d s/, '#.# s'))
    await sitting.begun()
    window.type('/goal grep -c one work.txt | grep 2\r')
    await sitting.framed('goal', ['is over', rested('tokens')])

    execFileSync('touch', [stay])
    window.type('/goal grep -c one work.txt | grep 5\r')
    await sitting.shows('goal: turn 1 of 10', / (?:starting )?alpha · /)
    window.type(keys.ctrlD)
    await window.exited
    assert.match(window.raw, /goal: turn 1 of 10\. /)
    const again = new ProgramWindow(machine, looks.dark)
    t.after(() => again.end())
    await again.shows(/is over:/)
    console.error(again.frame().rows.join('\n'))
  },
)
