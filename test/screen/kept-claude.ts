import type { TestContext } from 'node:test'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { labelledProcesses } from '../base/alive.ts'
import { Machine } from '../cli/program.ts'
import { pathOf } from '../system-path.ts'
import { ProgramWindow } from './program-window.ts'

/**
 * A stand-in for Claude Code that takes prompt after prompt, and answers with its process and the number of the prompt. It agrees to every
 * control request, and writes a file for the first prompt that asks for "a new file".
 */
export const keptClaude = `#!/bin/bash
n=0
while read -r line; do
  id=$(expr "$line" : '.*"request_id":"\\([^"]*\\)"')
  case "$line" in
    *'"type":"user"'*) ;;
    *'"type":"control_request"'*) echo '{"type":"control_response","response":{"subtype":"success","request_id":"'$id'"}}'; continue;;
    *) continue;;
  esac
  n=$((n+1))
  case "$line" in *"a new file"*) [ -e .git/made ] || { echo $n > made.txt; touch .git/made; };; esac
  echo '{"type":"system","subtype":"init","session_id":"session-1","capabilities":[]}'
  printf '{"type":"result","subtype":"success","is_error":false,"result":"answer %s of process %s.","usage":{"input_tokens":12,"output_tokens":3}}\\n' $n $$
done
`

/** A chat whose agents are stand-ins for Claude Code that take prompt after prompt. */
export function chatWith(t: TestContext, settings: object = {}) {
  const machine = new Machine(t)
  execFileSync('git', ['init', '-q'], { cwd: machine.project })
  const bin = join(machine.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'claude'), keptClaude, { mode: 0o755 })
  machine.settings({ agents: [{ name: 'claude', profile: 'claude', contextWindowTokens: 200_000 }], ...settings })
  const label = `label-${crypto.randomUUID()}`
  const env = { PATH: pathOf(bin), LABEL: label }
  const all = () => labelledProcesses(label)
  return {
    machine,
    async open(): Promise<ProgramWindow> {
      const window = new ProgramWindow(machine, { size: { cols: 100, rows: 40 }, env })
      t.after(() => window.end())
      await window.shows('next claude')
      return window
    },
    /** The processes of the chat that still run, and those of them that are its agents. */
    running: async () => (await all()).map(({ pid }) => pid),
    agents: async () =>
      (await all()).filter(({ command }) => command.includes(join(bin, 'claude'))).map(({ pid }) => pid),
  }
}

/** Sends a prompt and returns the process that answered it. */
export async function asked(window: ProgramWindow, prompt: string, number: number): Promise<string> {
  window.type(`${prompt}\r`)
  const said = new RegExp(`answer ${number} of process (\\d+)\\.`)
  // The line below the answer says that the turn is over.
  const isOver = (text: string) => said.test(text) && text.includes('─ claude ·')
  const screen = await window.shows((text) => text.includes(`❯ ${prompt}`) && isOver(below(text, prompt)))
  return said.exec(below(screen, prompt))![1]!
}

const below = (screen: string, prompt: string) => screen.slice(screen.lastIndexOf(`❯ ${prompt}`))
