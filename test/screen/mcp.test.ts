import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'
import { Machine } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { Glass, keys } from './glass.ts'
import { hiddenClone } from '../safety/no-sandbox.ts'
import { looksOf } from './looks.ts'
import { rested, Sitting } from './sitting.ts'

const options = { timeout: 120_000, skip: hiddenClone }
const script = join(import.meta.dirname, '../tools/mcp/scripted.ts')

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
      const glass = new Glass(machine, { ...shown, env: { ...shown.env, ANTHROPIC_API_KEY: 'made-up' } })
      t.after(() => glass.end())
      const sitting = new Sitting(glass, look)
      await sitting.begun()
      glass.type('/notes')
      await sitting.framed('mcp-prompts', ['› /notes:greet <name> [tone]', '/notes:fix_bugs_now'])
      await sitting.emptied()
      glass.type('See @notes:')
      await sitting.framed('mcp-resources', ['› notes:notes://today', 'notes:day://{month}/{day}'])
      glass.type('day')
      await glass.shows(/› notes:day:\/\/\{month\}/)
      glass.type(keys.enter)
      await sitting.framed('mcp-template', ['See @notes:day://', '› notes:day://may/', 'notes:day://march/'])
      await sitting.emptied()
      glass.type('See @notes:notes://today')
      await glass.shows('› notes:notes://today')
      glass.type(keys.enter)
      await sitting.shows('Thank you.', rested('tokens · $0.001'))
      glass.type('/notes:greet ')
      await sitting.framed('mcp-values', ['› Ada', '"Alan Turing"'])
      glass.type(keys.escape)
      await glass.shows((screen) => !screen.includes('› Ada'))
      glass.type(keys.enter)
      await sitting.framed('mcp-argument', ['/notes:greet needs name: Whom to greet', '› 1 Ada', 'Enter answers'])
      glass.type('2')
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
      glass.type(keys.up)
      await glass.shows('/notes:greet')
    })
})

test("a project's servers give prompts and resources only after the folder was trusted", options, async (t) => {
  const machine = new Machine(t)
  const server = await modelServer(() => ({ text: 'Thank you.' }))
  t.after(() => server.close())
  const agent = { name: 'alpha', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
  const agents = [{ ...agent, contextWindowTokens: 200_000 }]
  const dead = { command: 'sh', args: ['-c', 'echo no licence >&2; exit 4'] }
  machine.settings({ metaInstruction: false, thinking: 'off', agents, mcpServers: { dead } })
  const started = join(machine.project, 'started')
  const notes = {
    command: 'sh',
    args: ['-c', `touch ${started}; exec ${process.execPath} ${script} '{"data":"usual"}'`],
  }
  writeFileSync(join(machine.project, '.mcp.json'), JSON.stringify({ mcpServers: { notes } }))
  const glass = new Glass(machine, { env: { ANTHROPIC_API_KEY: 'made-up' } })
  t.after(() => glass.end())
  const sitting = new Sitting(glass, 'plain')
  await glass.shows('next alpha')
  glass.type('/notes:greet Ada')
  glass.type(keys.enter)
  // An unknown command opens the palette.
  await glass.shows('No command matches')
  glass.type(keys.escape)
  await glass.shows((screen) => !screen.includes('No command matches'))
  glass.type(keys.ctrlU)
  await sitting.shows('Ask anything')
  assert.equal(existsSync(started), false)
  glass.type('/trust')
  await glass.shows('› /trust')
  glass.type(keys.enter)
  await glass.shows(/MCP server notes[^]*Enter answers/)
  glass.type('2')
  await glass.shows((screen) => !screen.includes('Enter answers'))
  await until(() => existsSync(started))
  glass.type('/notes')
  await glass.shows('› /notes:greet <name> [tone]')
  await sitting.emptied()
  glass.type('@notes:')
  await glass.shows('› notes:notes://today')
  await sitting.emptied()
  glass.type('/dead:greet')
  glass.type(keys.enter)
  await glass.shows('/dead:greet cannot be used: the MCP server dead')
  assert.equal(server.turns().length, 0)
})
