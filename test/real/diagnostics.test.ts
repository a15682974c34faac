import { pathOf } from '../system-path.ts'
import type { Answer } from './model-server.ts'
import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { ProgramWindow, keys } from '../screen/program-window.ts'
import { modelServer } from './model-server.ts'

const root = join(import.meta.dirname, '..', '..')
const clis = join(import.meta.dirname, 'clis', 'node_modules')

/** Real language servers: where the packages are that a project has installed, and what stands on the PATH. */
const servers = {
  'typescript-language-server with TypeScript 6': {
    missing: existsSync(join(clis, '.bin', 'typescript-language-server')) ? false : 'npm ci in test/real/clis first',
    installed: { 'typescript-language-server': clis, typescript: clis },
    shown: 'typescript-language-server runs, 2 files open',
  },
  'the server of TypeScript 7 itself': {
    missing: false,
    installed: { typescript: join(root, 'node_modules') },
    shown: 'TypeScript 7 runs, 2 files open',
  },
} as const

const programs = { 'typescript-language-server': 'lib/cli.mjs', typescript: 'bin/tsc' }
const names = { 'typescript-language-server': 'typescript-language-server', typescript: 'tsc' }

const edit = (file_path: string, old_string: string, new_string: string): Answer => ({
  call: { tool: 'file_editor', input: { file_path, edits: [{ old_string, new_string }] } },
})
const read = (file_path: string): Answer => ({ call: { tool: 'file_reader', input: { file_path } } })

async function chat(t: TestContext, installed: Readonly<Record<string, string>>, calls: readonly Answer[]) {
  const server = await modelServer(({ count }) => calls[count - 1] ?? { text: 'That is all.' })
  t.after(() => server.close())
  const machine = new Machine(t)
  const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  const agents = [{ ...agent, contextWindowTokens: 200_000, leash: 'edit' }]
  // The speed of the machine is not what is tested here.
  // The sandbox follows no link out of the project, and the packages are linked from where the tests have them.
  const sandbox = { show: [...new Set(Object.values(installed))] }
  machine.settings({ metaInstruction: false, diagnostics: { seconds: 60 }, thinking: 'off', sandbox, agents })
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(machine.project, path)), { recursive: true })
    writeFileSync(join(machine.project, path), text)
  }
  put('tsconfig.json', '{"compilerOptions":{"strict":true,"module":"nodenext","types":[]},"include":["src"]}')
  put('src/a.ts', 'export const double = (n: number): number => n * 2\n')
  put('src/b.ts', "import { double } from './a.js'\nexport const four: number = double(2)\n")
  mkdirSync(join(machine.project, 'node_modules', '.bin'), { recursive: true })
  for (const [name, from] of Object.entries(installed)) {
    symlinkSync(join(from, name), join(machine.project, 'node_modules', name))
    const program = join(from, name, programs[name as keyof typeof programs])
    symlinkSync(program, join(machine.project, 'node_modules', '.bin', names[name as keyof typeof names]))
  }
  const env = {
    ANTHROPIC_API_KEY: 'made-up-key',
    PATH: pathOf(),
  }
  const trusted = await machine.run(['trust', '--yes'], { env })
  assert.equal(trusted.code, 0, trusted.err)
  const window = new ProgramWindow(machine, { size: { cols: 110, rows: 40 }, env })
  t.after(() => window.end())
  await window.shows('next native')
  return { machine, window }
}

for (const [name, { missing, installed, shown }] of Object.entries(servers))
  test(`${name} tells the chat's agent what its edits broke`, { timeout: 120_000, skip: missing }, async (t) => {
    const { machine, window } = await chat(t, installed, [
      read('src/b.ts'),
      edit('src/b.ts', 'number = double(2)', 'string = double(2)'),
      edit('src/b.ts', 'string = double(2)', 'number = double(2)'),
      read('src/a.ts'),
      edit('src/a.ts', '(n: number)', '(n: string)'),
    ])
    window.type(`break it${keys.enter}`)
    await window.shows('That is all.')
    const results = machine.history().flatMap((entry) => (entry.type === 'result' ? [entry.text] : []))
    assert.deepEqual(
      results.filter((text) => text.startsWith('Made')),
      [
        "Made 1 edit in src/b.ts.\n\nTypeScript reports 1 error in src/b.ts after this edit:\n- line 2, column 14: Type 'number' is not assignable to type 'string'. (2322)",
        'Made 1 edit in src/b.ts.\n\nTypeScript no longer reports errors in src/b.ts.',
        "Made 1 edit in src/a.ts.\n\nTypeScript reports 1 error in src/a.ts after this edit:\n- line 1, column 46: The left-hand side of an arithmetic operation must be of type 'any', 'number', 'bigint' or an enum type. (2362)\nThis edit also causes 1 error in src/b.ts:\n- src/b.ts: line 2, column 36: Argument of type 'number' is not assignable to parameter of type 'string'. (2345)",
      ],
    )
    await window.shows(/✓ edits src\/b\.ts · \+1 −1 · 1 error · /)
    await window.shows(/✓ edits src\/a\.ts · \+1 −1 · 2 errors · /)
    window.type(`/context${keys.enter}`)
    await window.shows(shown)
  })
