import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Machine } from '../cli/program.ts'
import { modelServer } from '../real/model-server.ts'
import { ProgramWindow, keys } from './program-window.ts'
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
        const window = new ProgramWindow(machine, shown)
        t.after(() => window.end())
        const sitting = new Sitting(window, look)
        await sitting.begun()
        window.type('#Run the tests with npm test.')
        window.type(keys.enter)
        await sitting.framed('memory-note', ['Add this note to AGENTS.md?', '+ - Run the tests', 'Enter answers'])
        window.type(keys.enter)
        await window.shows('Added to AGENTS.md. /undo takes it back, and so does git.')
        assert.equal(file(), `${before}- Run the tests with npm test.\n`)
        await window.shows((screen) => screen.includes('Ask anything') && !/ Esc cancels$/m.test(screen))
        window.type('/undo')
        window.type(keys.enter)
        await window.shows(/AGENTS\.md[^]*Enter answers/)
        window.type(keys.enter)
        await window.shows((screen) => !screen.includes('Enter answers') && file() === before)
      },
    )

  for (const [look, shown] of looksOf('light'))
    test(
      `a command of the project: named in the list, trusted, its command line agreed to, sent, ${look}`,
      options,
      async (t) => {
        const machine = new Machine(t)
        // The card says why there is no sandbox, which differs from machine to machine where the settings do not say it.
        const sandbox = { enabled: false }
        machine.agents({ alpha: 'tail -c 200' }, { metaInstruction: false, thinking: 'off', sandbox })
        write(
          machine,
          '.claude/commands/ship.md',
          '---\ndescription: Ship the project to a server\nargument-hint: <server>\n---\nShip to $0. Made: !`touch shipped-$0; echo done`',
        )
        const window = new ProgramWindow(machine, shown)
        t.after(() => window.end())
        const tidy = (row: string) => row.replaceAll(/\/tmp\/termaite-test-\w+/g, '/tmp/termaite-test-000000')
        const sitting = new Sitting(window, look, tidy)
        await sitting.begun()
        window.type('/shi')
        await sitting.framed('command-untrusted', ['Welcome to', /› \/ship +Not used until you trust this folder/])
        window.type('p home')
        window.type(keys.enter)
        await window.shows(/Do you trust this[^]*ship\.md[^]*Enter answers/)
        window.type('2')
        window.type(keys.enter)
        await sitting.framed('command-line', [
          '/ship (.claude/commands/ship.md) wants to run a command',
          'touch shipped-home',
          'Enter answers',
        ])
        window.type('1')
        window.type(keys.enter)
        await window.shows(/Ship to home\. Made: done/)
        readFileSync(join(machine.project, 'shipped-home'))
        await window.shows((screen) => screen.includes('Ask anything') && !/ Esc cancels$/m.test(screen))
        window.type('/shi')
        await window.shows(/› \/ship <server> +Ship the project to a server/)
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
    const window = new ProgramWindow(machine, {
      env: { ANTHROPIC_API_KEY: 'made-up' },
      args: ['@reviewer look at a.txt'],
    })
    t.after(() => window.end())
    await window.shows(/reviewer[^]*The reviewer is content\./)
    assert.deepEqual(
      server.turns()[1]!.body.tools.map(({ name }: { name: string }) => name),
      ['file_reader'],
    )
  })
})
