import type { TestContext } from 'node:test'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { carries, processTable } from '../../src/base/process/process-table.ts'
import { Machine } from '../cli/program.ts'
import { until } from '../until.ts'
import { pathOf } from '../system-path.ts'
import { ProgramWindow, keys } from './program-window.ts'

const options = { timeout: 120_000 }

/** A stand-in for Claude Code that takes prompt after prompt, and answers with its process and the number of the prompt. */
const claude = `#!/bin/bash
n=0
while read -r line; do
  case "$line" in *'"type":"user"'*) ;; *) continue;; esac
  n=$((n+1))
  echo '{"type":"system","subtype":"init","session_id":"session-1","capabilities":[]}'
  printf '{"type":"result","subtype":"success","is_error":false,"result":"answer %s of process %s.","usage":{"input_tokens":12,"output_tokens":3}}\\n' $n $$
done
`

function machineWith(t: TestContext, settings: object = {}) {
  const machine = new Machine(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'claude'), claude, { mode: 0o755 })
  machine.settings({ agents: [{ name: 'claude', profile: 'claude', contextWindowTokens: 200_000 }], ...settings })
  const label = `label-${crypto.randomUUID()}`
  const env = { PATH: pathOf(bin), LABEL: label }
  return {
    machine,
    async open(): Promise<ProgramWindow> {
      const window = new ProgramWindow(machine, { size: { cols: 100, rows: 40 }, env })
      t.after(() => window.end())
      await window.shows('next claude')
      return window
    },
    /** The processes of the stand-in that still run. */
    async running(): Promise<number[]> {
      const all = (await processTable()).map(({ pid }) => pid)
      const found = await Promise.all(all.map((pid) => carries(pid, label)))
      return all.filter((_pid, at) => found[at])
    },
  }
}

/** Sends a prompt and returns the process that answered it. */
async function asked(window: ProgramWindow, prompt: string, number: number): Promise<string> {
  window.type(`${prompt}\r`)
  const said = new RegExp(`answer ${number} of process (\\d+)\\.`)
  // The line below the answer says that the turn is over.
  const isOver = (text: string) => said.test(text) && text.includes('─ claude ·')
  const screen = await window.shows((text) => text.includes(`❯ ${prompt}`) && isOver(below(text, prompt)))
  return said.exec(below(screen, prompt))![1]!
}

const below = (screen: string, prompt: string) => screen.slice(screen.lastIndexOf(`❯ ${prompt}`))

test('the chat keeps the process of its agent for the next turns, and ends it when it is left', options, async (t) => {
  const { open, running } = machineWith(t)
  const window = await open()
  const processes = [await asked(window, 'first', 1), await asked(window, 'second', 2), await asked(window, 'third', 3)]
  assert.equal(new Set(processes).size, 1)
  window.type(keys.ctrlD)
  await window.exited
  assert.deepEqual(await running(), [])
})

test('a chat that is killed leaves no process of an agent', options, async (t) => {
  const { open, running } = machineWith(t)
  const window = await open()
  await asked(window, 'first', 1)
  window.pty.kill('SIGKILL')
  await window.exited
  await until(async () => (await running()).length === 0)
})

test('after a reset, and if the setting says so, a turn begins in a new process', options, async (t) => {
  const { open } = machineWith(t)
  const window = await open()
  const first = await asked(window, 'first', 1)
  window.type('/reset\r')
  await window.shows('new session began')
  const second = await asked(window, 'second', 1)
  const cold = await machineWith(t, { idleAgentMinutes: 0 }).open()
  const third = await asked(cold, 'first', 1)
  const fourth = await asked(cold, 'second', 1)
  assert.deepEqual([first === second, third === fourth], [false, false])
})
