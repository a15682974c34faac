import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'
import { Machine } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { hiddenClone } from '../safety/no-sandbox.ts'
import { looksOf } from './looks.ts'
import { rested, Sitting } from './sitting.ts'

const options = { timeout: 120_000, skip: hiddenClone }
const script = join(import.meta.dirname, '../native/tools/mcp/scripted.ts')

describe('MCP resources and prompts in the chat', { concurrency: 2 }, () => {
  for (const [look, shown] of looksOf('plain'))
    test(`are completed, asked for and sent, ${look}`, options, async (t) => {
      const machine = new Machine(t)
      const server = await modelServer(() => ({ text: 'Thank you.' }))
      t.after(() => server.close())
      const agent = { name: 'alpha', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
      const notes = { command: process.execPath, args: [script, '{"data":"usual"}'] }
      const agents = [{ ...agent, contextWindowTokens: 200_000 }]
      machine.settings({ metaInstruction: false, thinking: 'off', agents, mcpServers: { notes } })
      const window = new ProgramWindow(machine, { ...shown, env: { ...shown.env, ANTHROPIC_API_KEY: 'made-up' } })
      t.after(() => window.end())
      const sitting = new Sitting(window, look)
      await sitting.begun()
      window.type('/notes')
      await sitting.framed('mcp-prompts', ['› /notes:greet <name> [tone]', '/notes:fix_bugs_now'])
      await sitting.emptied()
      window.type('See @notes:')
      await sitting.framed('mcp-resources', ['› notes:notes://today', 'notes:day://{month}/{day}'])
      window.type('day')
      await window.shows(/› notes:day:\/\/\{month\}/)
      window.type(keys.enter)
      await sitting.framed('mcp-template', ['See @notes:day://', '› notes:day://may/', 'notes:day://march/'])
      await sitting.emptied()
      window.type('See @notes:notes://today')
      await window.shows('› notes:notes://today')
      window.type(keys.enter)
      await sitting.shows('Thank you.', rested('tokens · $0.001'))
      window.type('/notes:greet ')
      await sitting.framed('mcp-values', ['› Ada', '"Alan Turing"'])
      window.type(keys.escape)
      await window.shows((screen) => !screen.includes('› Ada'))
      window.type(keys.enter)
      await sitting.framed('mcp-argument', ['/notes:greet needs name: Whom to greet', '› 1 Ada', 'Enter answers'])
      window.type('2')
      await sitting.framed('mcp-sent', [
        'Greet Alan Turing warmly.',
        /Thank you\.[^]*Thank you\./,
        rested('tokens · $0.003'),
      ])
      const texts = server.turns().map(({ text }) => text)
      assert.equal(texts.length, 2)
      assert.ok(texts[0]!.includes('<resource server=\\"notes\\" uri=\\"notes://today\\">\\nBuy milk.\\n</resource>'))
      assert.ok(
        texts[1]!.includes('Use the prompt notes:greet name=\\"Alan Turing\\"\\n\\n<prompt server=\\"notes\\">'),
      )
      window.type(keys.up)
      await window.shows('/notes:greet')
    })
})

test("a project's servers give prompts and resources only after the folder was trusted", options, async (t) => {
  const machine = new Machine(t)
  const server = await modelServer(() => ({ text: 'Thank you.' }))
  t.after(() => server.close())
  const agent = { name: 'alpha', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  const agents = [{ ...agent, contextWindowTokens: 200_000 }]
  const dead = { command: 'sh', args: ['-c', 'echo no licence >&2; exit 4'] }
  // A project's server runs in the sandbox, which shows neither this checkout nor the Node that runs the tests.
  const sandbox = { show: [join(import.meta.dirname, '../..')] }
  machine.settings({ metaInstruction: false, thinking: 'off', agents, mcpServers: { dead }, sandbox })
  const started = join(machine.project, 'started')
  const notes = {
    command: 'sh',
    args: ['-c', `touch ${started}; exec ${process.execPath} ${script} '{"data":"usual"}'`],
  }
  writeFileSync(join(machine.project, '.mcp.json'), JSON.stringify({ mcpServers: { notes } }))
  const window = new ProgramWindow(machine, { env: { ANTHROPIC_API_KEY: 'made-up' } })
  t.after(() => window.end())
  const sitting = new Sitting(window, 'plain')
  await window.shows('next alpha')
  window.type('/notes:greet Ada')
  window.type(keys.enter)
  // An unknown command opens the palette.
  await window.shows('No command matches')
  window.type(keys.escape)
  await window.shows((screen) => !screen.includes('No command matches'))
  window.type(keys.ctrlU)
  await sitting.shows('Ask anything')
  assert.equal(existsSync(started), false)
  window.type('/trust')
  await window.shows('› /trust')
  window.type(keys.enter)
  await window.shows(/MCP server notes[^]*Enter answers/)
  window.type('2')
  await window.shows((screen) => !screen.includes('Enter answers'))
  await until(() => existsSync(started))
  window.type('/notes')
  await window.shows('› /notes:greet <name> [tone]')
  await sitting.emptied()
  window.type('@notes:')
  await window.shows('› notes:notes://today')
  await sitting.emptied()
  window.type('/dead:greet')
  window.type(keys.enter)
  await window.shows('/dead:greet cannot be used: the MCP server dead')
  assert.equal(server.turns().length, 0)
})
