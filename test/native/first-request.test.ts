import type { SystemSpec } from '../../src/core/profile/system-spec.ts'
import type { Target } from '../../src/models/http/wire-format.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameOf } from '../../src/native/loop/model-messages.ts'
import { systemText } from '../../src/native/loop/session-opening.ts'
import { offeredTools } from '../../src/native/toolbox.ts'
import { wallPrompt } from '../../src/native/wall-words.ts'
import { metaInstruction } from '../../src/core/talk/transcript.ts'
import { isPlanTool } from '../../src/core/work/tool.ts'
import { machineSummary } from '../../src/machine/machine-summary.ts'
import { providerOf } from '../../src/models/provider.ts'
import { anthropic } from '../../src/models/wires/anthropic.ts'
import { seat } from './seat.ts'

/** The size of the first request of pi 0.87.1, for the same prompt in `npm run bench:peers`. */
const pi = 5789

const machine: SystemSpec = {
  os: { name: 'Debian GNU/Linux', version: '12', arch: 'x64' },
  shell: { type: 'bash' },
  runtimes: { node: { npm: '11.19.1' }, python: {} },
  binaries: Object.fromEntries(
    'bash bwrap convert curl docker gcc git jq make perl psql sqlite3 tmux wget'
      .split(' ')
      .map((name) => [name, { path: `/usr/bin/${name}` }]),
  ),
  packageManagers: ['apt'],
  sudoAvailable: false,
  network: { hasInternet: true },
}

const to: Target = {
  ...{ name: 'claude', provider: providerOf('anthropic'), model: 'claude-sonnet-4-5', base: 'https://api.test' },
  ...{ wire: 'anthropic', known: { window: 200_000 }, window: 200_000, refused: new Set(), unseen: new Map() },
}

/** The tools of a session without skills and servers, as its first request has them. */
function offered(t: Parameters<typeof seat>[0], { model = claude, isPlan = false }) {
  const { tools } = seat(t, { consult: async () => '', sandboxed: async () => '' })
  return offeredTools(tools, undefined, model, (tool) => !isPlan || isPlanTool(tool))
}

/** A model that was trained on texts to replace, and one that was trained on patches. */
const claude = 'anthropic/claude-sonnet-4-5'
const models = { [claude]: 'file_editor', 'openai/gpt-5': 'apply_patch' }

for (const [model, editor] of Object.entries(models))
  test(`the first request of a session with ${model} is shorter than that of pi, and names every tool`, (t) => {
    const { frame: tools, all } = offered(t, { model })
    const wall = wallPrompt('all', undefined)
    const place = { cwd: '/tmp/termaite-real-123456/project', date: '2026-11-16' }
    const system = systemText({ ...place, mode: 'agent', meta: metaInstruction, system: machineSummary(machine), wall })
    const messages = [{ role: 'user' as const, text: 'Read the files, one after another.' }]
    const { body } = anthropic.request({ frame: frameOf(system, tools), messages }, to, () => undefined)
    const bytes = (part: unknown) => Buffer.byteLength(JSON.stringify(part))
    const sent = JSON.parse(body) as { tools: { name: string }[]; system: unknown }
    const sizes = Object.fromEntries([
      ['system', bytes(sent.system)],
      ...sent.tools.map((one) => [one.name, bytes(one)]),
    ])
    t.diagnostic(`${Buffer.byteLength(body)} bytes: ${JSON.stringify(sizes)}`)
    assert.ok(Buffer.byteLength(body) < pi, `${Buffer.byteLength(body)} bytes, of which ${JSON.stringify(sizes)}`)
    assert.deepEqual(
      sent.tools.map(({ name }) => name),
      ['file_reader', editor, 'file_creator', 'bash', 'todo_write', 'todo_read', 'todo_update', 'more_tools'],
    )
    assert.deepEqual(
      all.map(({ name }) => name).filter((name) => !body.includes(name)),
      [],
    )
  })

test('a session that only looks and plans has its tools for that at once', (t) => {
  assert.deepEqual(
    offered(t, { isPlan: true }).frame.map(({ name }) => name),
    'file_reader grep_search glob ls web_search todo_write todo_read todo_update ask_question'.split(' '),
  )
})
