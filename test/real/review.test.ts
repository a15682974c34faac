import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, start } from '../cli/program.ts'
import { findings, reviewedProject } from '../reviewed-project.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'
import { skipped } from './turns.ts'

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: stolen\n+x\n*** End Patch\nEOF"

/** How each CLI is asked to write a file, which it must not do in a review. */
const ways: Record<string, { tool: string; input: object }> = {
  claude: { tool: 'Write', input: { file_path: 'stolen', content: 'x' } },
  codex: { tool: 'exec_command', input: { cmd: patch } },
  gemini: { tool: 'write_file', input: { file_path: 'stolen', content: 'x' } },
}

for (const [cli, call] of Object.entries(ways))
  test(`${cli} reviews changes without changing anything`, { skip: skipped(cli) }, async (t) => {
    let called = false
    const server = await modelServer(() => {
      if (called) return { text: JSON.stringify({ findings }) }
      called = true
      return { call }
    })
    t.after(() => server.close())
    await using it = await rig(cli, server.url)
    reviewedProject(it.cwd)
    const home = join(it.root, 'termaite')
    mkdirSync(home)
    const agent = { name: cli, profile: cli, leash: 'all', contextWindowTokens: 200_000 }
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: [agent] }))
    const child = spawn(start[0], [...start.slice(1), 'review', '--json'], {
      cwd: it.cwd,
      env: { ...it.env, TERMAITE_HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { code, out, err } = await ended(child)
    assert.deepEqual(
      { code, review: out === '' ? err : JSON.parse(out), stolen: existsSync(join(it.cwd, 'stolen')) },
      {
        code: 1,
        review: { ok: true, of: 'the uncommitted changes', reviewer: cli, findings, dropped: 0 },
        stolen: false,
      },
      err,
    )
  })
