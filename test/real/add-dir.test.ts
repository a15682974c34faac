import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, start } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { rig } from './rig.ts'
import { fullOnly } from '../full.ts'
import { skipped } from './turns.ts'

const patch = (path: string) => `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+new\n*** End Patch\nEOF`

/** How each CLI is asked to make a file, and how it can be run. */
const ways: Record<
  string,
  { kinds: string[]; anywhere?: string; make(path: string): { tool: string; input: object } }
> = {
  claude: {
    kinds: ['pipe'],
    make: (path) => ({ tool: 'Write', input: { file_path: path, content: 'new\n' } }),
  },
  codex: { kinds: ['pipe'], make: (path) => ({ tool: 'exec_command', input: { cmd: patch(path) } }) },
  gemini: {
    kinds: ['pipe', 'acp'],
    make: (path) => ({ tool: 'write_file', input: { file_path: path, content: 'new\n' } }),
  },
  qwen: {
    kinds: ['pipe', 'acp'],
    // Gemini's own edits without a question know no folders there.
    anywhere: 'pipe',
    make: (path) => ({ tool: 'write_file', input: { file_path: path, content: 'new\n' } }),
  },
  copilot: {
    kinds: ['pipe', 'acp'],
    make: (path) => ({ tool: 'create', input: { path, file_text: 'new\n' } }),
  },
}

/** Slow starters that are told of the folder as others are. */
const repeats = ['qwen', 'copilot']
const skipFor = (cli: string) => skipped(cli) || (repeats.includes(cli) && fullOnly)

for (const [cli, { kinds, make, anywhere }] of Object.entries(ways))
  for (const kind of kinds)
    test(`${cli} (${kind}) writes in an added folder, and not without it`, { skip: skipFor(cli) }, async (t) => {
      const writesAnywhere = anywhere === kind
      for (const added of [false, true]) {
        let [shared, called] = ['', false]
        const server = await modelServer(() => {
          if (called) return { text: 'That is all.' }
          called = true
          return { call: make(join(shared, 'new.txt')) }
        })
        t.after(() => server.close())
        await using it = await rig(cli, server.url)
        // The folder is not in the temporary folder, where the sandbox of Codex may write.
        shared = realpathSync(mkdtempSync(join('/var/tmp', 'termaite real ')))
        t.after(() => rmSync(shared, { recursive: true, force: true }))
        const home = join(it.root, 'termaite')
        mkdirSync(home)
        const agent = { name: cli, profile: cli, kind, contextWindowTokens: 200_000 }
        writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: [agent], metaInstruction: false }))
        const args = ['-p', 'go', '--leash', 'edit', ...(added ? ['--add-dir', shared] : [])]
        const child = spawn(start[0], [...start.slice(1), ...args], {
          cwd: it.cwd,
          env: { ...it.env, TERMAITE_HOME: home },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        const { out, err } = await ended(child)
        const made = existsSync(join(shared, 'new.txt'))
        if (added) assert.deepEqual({ made, out }, { made, out: 'That is all.\n' }, err)
        assert.equal(made, added || writesAnywhere, err)
      }
    })
