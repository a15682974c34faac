import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { Glass, keys } from './glass.ts'
import { looksOf } from './looks.ts'
import { Sitting } from './sitting.ts'

const options = { timeout: 90_000 }

function write(machine: Machine, path: string, text: string): void {
  mkdirSync(dirname(join(machine.project, path)), { recursive: true })
  writeFileSync(join(machine.project, path), text)
}

describe('notes, commands and agents of a project in the chat', { concurrency: 2 }, () => {
  for (const [look, shown] of looksOf('dark'))
    test(
      `# shows the change of AGENTS.md and adds it after a yes; /undo takes it back, ${look}`,
      options,
      async (t) => {
        const machine = new Machine(t)
        machine.agents({ alpha: 'cat >/dev/null; echo fine' }, { metaInstruction: false, thinking: 'off' })
        const before = '# Rules\n\n- Indent with two spaces.\n'
        write(machine, 'AGENTS.md', before)
        const file = () => readFileSync(join(machine.project, 'AGENTS.md'), 'utf8')
        const glass = new Glass(machine, shown)
        t.after(() => glass.end())
        const sitting = new Sitting(glass, look)
        await sitting.begun()
        glass.type('#Run the tests with npm test.')
        glass.type(keys.enter)
        await sitting.framed('memory-note', ['Add this note to AGENTS.md?', '+ - Run the tests', 'Enter answers'])
        glass.type(keys.enter)
        await glass.shows('Added to AGENTS.md. /undo takes it back, and so does git.')
        assert.equal(file(), `${before}- Run the tests with npm test.\n`)
        await glass.shows((screen) => screen.includes('Ask anything') && !/ Esc cancels$/m.test(screen))
        glass.type('/undo')
        glass.type(keys.enter)
        await glass.shows(/AGENTS\.md[^]*Enter answers/)
        glass.type(keys.enter)
        await glass.shows((screen) => !screen.includes('Enter answers') && file() === before)
      },
    )

  for (const [look, shown] of looksOf('light'))
    test(
      `a command of the project: named in the list, trusted, its command line agreed to, sent, ${look}`,
      options,
      async (t) => {
        const machine = new Machine(t)
        machine.agents({ alpha: 'tail -c 200' }, { metaInstruction: false, thinking: 'off' })
        write(
          machine,
          '.claude/commands/ship.md',
          '---\ndescription: Ship the project to a server\nargument-hint: <server>\n---\nShip to $0. Made: !`touch shipped-$0; echo done`',
        )
        const glass = new Glass(machine, shown)
        t.after(() => glass.end())
        const tidy = (row: string) => row.replaceAll(/\/tmp\/termaite-test-\w+/g, '/tmp/termaite-test-000000')
        const sitting = new Sitting(glass, look, tidy)
        await sitting.begun()
        glass.type('/shi')
        await sitting.framed('command-untrusted', ['Welcome to', /› \/ship +Not used until you trust this folder/])
        glass.type('p home')
        glass.type(keys.enter)
        await glass.shows(/Do you trust this[^]*ship\.md[^]*Enter answers/)
        glass.type('2')
        glass.type(keys.enter)
        await sitting.framed('command-line', [
          '/ship (.claude/commands/ship.md) wants to run a command',
          'touch shipped-home',
          'Enter answers',
        ])
        glass.type('1')
        glass.type(keys.enter)
        await glass.shows(/Ship to home\. Made: done/)
        readFileSync(join(machine.project, 'shipped-home'))
        await glass.shows((screen) => screen.includes('Ask anything') && !/ Esc cancels$/m.test(screen))
        glass.type('/shi')
        await glass.shows(/› \/ship <server> +Ship the project to a server/)
      },
    )

  test('a subagent of the project does a task in the chat, and its steps have its name', options, async (t) => {
    const machine = new Machine(t)
    const server = await modelServer(({ count }) => {
      if (count === 1) return { call: { tool: 'subagent', input: { task: 'Look at a.txt.', type: 'reviewer' } } }
      if (count === 2) return { call: { tool: 'file_reader', input: { file_path: 'a.txt' } } }
      return { text: count === 3 ? 'It says one.' : 'The reviewer is content.' }
    })
    t.after(() => server.close())
    write(
      machine,
      '.claude/agents/reviewer.md',
      '---\nname: reviewer\ndescription: Reviews.\ntools: Read\n---\nYou review.',
    )
    write(machine, 'a.txt', 'one\n')
    const agent = { name: 'native', kind: 'native', model: 'anthropic/claude-sonnet-4-5', baseURL: `${server.url}/v1` }
    machine.settings({ metaInstruction: false, thinking: 'off', agents: [{ ...agent, contextWindowTokens: 200_000 }] })
    assert.equal((await machine.run(['trust', '--yes'])).code, 0)
    const glass = new Glass(machine, { env: { ANTHROPIC_API_KEY: 'made-up' }, args: ['@reviewer look at a.txt'] })
    t.after(() => glass.end())
    await glass.shows(/reviewer[^]*The reviewer is content\./)
    assert.deepEqual(
      server.turns()[1]!.body.tools.map(({ name }: { name: string }) => name),
      ['file_reader'],
    )
  })
})
