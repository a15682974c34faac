import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { ProgramWindow, keys } from './program-window.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

test(
  'our own agent in the chat: an edit is asked for with its diff, a question is a card, its answer the next prompt',
  { timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    const file = join(machine.project, 'a.txt')
    writeFileSync(file, 'one\n')
    const question = { question: 'Which colour?', options: ['red', 'green', 'blue'] }
    const server = await modelServer(({ count }) => {
      if (count === 1) return { call: { tool: 'file_reader', input: { file_path: file } } }
      const edits = [{ old_string: 'one', new_string: 'two' }]
      if (count === 2) return { call: { tool: 'file_editor', input: { file_path: file, edits } } }
      if (count === 3) return { call: { tool: 'ask_question', input: { questions: [question] } } }
      return { text: 'Painted.' }
    })
    t.after(() => server.close())
    const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    const agents = [{ ...agent, contextWindowTokens: 200_000 }]
    machine.settings({ metaInstruction: false, thinking: 'off', agents })
    const window = new ProgramWindow(machine, { env: { ANTHROPIC_API_KEY: 'made-up' }, args: ['paint it'] })
    t.after(() => window.end())
    await window.shows(/native asks for permission[^]*- one[^]*\+ two[^]*Yes, once[^]*Enter answers/)
    window.type(keys.enter)
    await window.shows(/native asks[^]*Which colour\?[^]*3 blue[^]*Enter answers/)
    assert.equal(readFileSync(file, 'utf8'), 'two\n')
    window.type(keys.down + keys.down)
    window.type(keys.enter)
    await window.shows(/Which colour\? blue[^]*Painted\./)
    assert.match(server.turns()[3]!.text, /Which colour\? blue/)
  },
)

test(
  'a plan is a card; approved it is the first prompt of a turn that builds, with all the tools',
  { timeout: 120_000 },
  async (t) => {
    const machine = new Machine(t)
    const plan = '## Summary\nPaint it.\n\n## Implementation Changes\nA coat.\n\n## Tests\nLook at it.'
    const server = await modelServer(({ count }) => ({ text: count <= 2 ? `${plan} ${count}` : 'Painted.' }))
    t.after(() => server.close())
    const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    const other = { name: 'other', command: 'echo other', contextWindowTokens: 200_000 }
    machine.settings({ metaInstruction: false, agents: [{ ...agent, contextWindowTokens: 200_000 }, other] })
    const window = new ProgramWindow(machine, { env: { ANTHROPIC_API_KEY: 'made-up' }, args: ['/plan paint it'] })
    t.after(() => window.end())
    await window.shows(/Build this plan\?[^]*drop it[^]*Enter answers/)
    window.type('in red')
    window.type(keys.enter)
    await window.shows(/Build this plan\?[^]*Look at it\. 2[^]*drop it[^]*Enter answers/)
    window.type(keys.enter)
    await window.shows(/Painted\./)
    await window.shows(/chat/)
    const [planned, changed, built] = server.turns().map(({ body }) => body)
    const has = (body: { tools: { name: string }[] }, tool: string) => body.tools.some(({ name }) => name === tool)
    assert.deepEqual(
      [planned, changed, built].map((body) => [has(body, 'file_reader'), has(body, 'bash')]),
      [
        [true, false],
        [true, false],
        [true, true],
      ],
    )
    assert.match(JSON.stringify(changed.messages.at(-1)), /in red/)
    golden(t, JSON.stringify(built.messages.at(-1)))
  },
)
