import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { start } from '../cli/program.ts'
import { ConductedMachine } from './mcp-crew.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'
import { skipped } from './turns.ts'

const bin = join(import.meta.dirname, 'clis', 'node_modules', '.bin')

type Env = Record<string, string | undefined>

function said(command: readonly string[], env: Env, cwd: string): Promise<{ code: number | null; text: string }> {
  const child = spawn(command[0]!, command.slice(1), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  child.stdout.on('data', (chunk) => (text += chunk))
  child.stderr.on('data', (chunk) => (text += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, text })))
}

/** How each CLI itself says that it knows a server, and where it keeps its settings. */
const clis: Record<string, { folder: string; knows: RegExp }> = {
  claude: { folder: '.', knows: /termaite: .* mcp serve - ✔ Connected/ },
  gemini: { folder: '.gemini', knows: /termaite: .* mcp serve \(stdio\)/ },
  codex: { folder: '.codex', knows: /termaite +\S+ +\S+ mcp serve .*enabled/ },
  qwen: { folder: '.qwen', knows: /termaite: .* mcp serve \(stdio\) - Connected/ },
  copilot: { folder: '.copilot', knows: /termaite \(local\)/ },
}

for (const [cli, { folder, knows }] of Object.entries(clis))
  test(
    `${cli} finds our server where we wrote it, and no more after`,
    { skip: skipped(cli), timeout: 120_000 },
    async () => {
      await using place = await rig(cli, 'http://127.0.0.1:9')
      const { env, cwd } = place
      mkdirSync(join(env.HOME!, folder), { recursive: true })
      const ours = (...args: string[]) => said([...start, 'mcp', ...args, '--yes'], env, cwd)
      assert.equal((await ours('install', cli)).code, 0)
      const list = () => said([join(bin, cli), 'mcp', 'list'], env, cwd)
      assert.match((await list()).text, knows)
      assert.equal((await ours('remove', cli)).code, 0)
      assert.doesNotMatch((await list()).text, /termaite.*mcp serve/)
    },
  )

test(
  'Claude Code conducts two agents: one audits, one sums up the audit',
  { skip: skipped('claude'), timeout: 120_000 },
  async (context) => {
    const calls = [
      ['spawn_agent', { agent_type: 'auditor', task: 'Audit this.' }],
      ['spawn_agent', { agent_type: 'writer', task: 'Sum it up: {{slot_1.output}}', depends_on: [1] }],
      ['wait_for_idle', { slot: 2 }],
      ['get_artifact', { slot: 2 }],
    ] as const
    let step = 0
    const server = await modelServer(({ side }) => {
      const call = side ? undefined : calls[step++]
      return call ? { call: { tool: `mcp__termaite__${call[0]}`, input: call[1] } } : { text: 'Both are done.' }
    })
    context.after(() => server.close())
    await using place = await rig('claude', server.url)
    const { env: own, cwd } = place
    const machine = new ConductedMachine(context)
    const env = { ...own, TERMAITE_HOME: machine.home }
    writeFileSync(join(own.HOME!, '.claude.json'), '{}')
    assert.equal((await said([...start, 'mcp', 'install', 'claude', '--yes'], env, cwd)).code, 0)
    const asked = [join(bin, 'claude'), '-p', 'Conduct them.', '--allowedTools', 'mcp__termaite']
    const { code, text } = await said(asked, env, cwd)
    assert.deepEqual([code, text.trim()], [0, 'Both are done.'])
    const told = JSON.stringify(server.turns().at(-1)!.body)
    assert.match(told, /in short: two/)
  },
)
