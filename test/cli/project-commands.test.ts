import { test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { modelServer } from '../real/model-server.ts'
import { until } from '../until.ts'
import { editorOn } from './acp-editor.ts'
import { Machine } from './program.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const options = { timeout: 60_000 }

/** A project with commands of its own, and an agent that says what it was asked. */
function projectOn(t: TestContext, files: Record<string, string>) {
  const machine = new Machine(t)
  machine.settings({ metaInstruction: false, agents: [{ name: 'echo', command: 'cat', contextWindowTokens: 100_000 }] })
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(machine.project, path)), { recursive: true })
    writeFileSync(join(machine.project, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return { machine, write, run: (...args: string[]) => machine.call([...args, '--new']) }
}

const heard = (text: string) => `<message from="user">\n${text}\n</message>\n`

test('-p "/name args" sends a command of the project once the folder is trusted', options, async (t) => {
  const { machine, write, run } = projectOn(t, {
    'a.txt': 'one\ntwo\n',
    'b.txt': 'bee',
    '.claude/commands/look.md':
      '---\ndescription: Looks.\nargument-hint: <file>\n---\nLines of $0: !`wc -l $0`\n!`cat "$0"`\nSee @b.txt and $ARGUMENTS.',
    '.opencode/commands/undo.md': 'Undo $1.',
  })
  const untrusted = await run('-p', '/look a.txt')
  golden(t, [untrusted.code, untrusted.out, untrusted.err])
  assert.equal((await machine.run(['trust', '--yes'])).code, 0)
  const used = await run('-p', '/look a.txt')
  assert.equal(
    used.out,
    heard(
      'Lines of a.txt: 2 a.txt\n\n<output command="cat a.txt">\none\ntwo\n</output>\n\nSee b.txt and a.txt.\n\n<file path="b.txt">\nbee\n</file>',
    ).replace('"cat a.txt"', `"cat _a.txt_"`),
    used.err,
  )
  assert.match(used.err, /^termaite: \/look needs the output of wc -l a\.txt$/m)
  assert.equal((await run('-p', '/project:undo it')).out, heard('Undo it.'))
  // A word that names no file is a prompt, and so is a path.
  for (const prompt of ['/undo it', '/etc/hosts is wrong', '/unknown thing'])
    assert.equal((await run('-p', prompt)).out, heard(prompt))

  write('.claude/commands/look.md', 'Changed $0.')
  assert.match((await run('-p', '/look a.txt')).err, /\/look is not used, because .* is not trusted/)
  await machine.run(['trust', '--yes'])
  assert.equal((await run('-p', '/look a.txt')).out, heard('Changed a.txt.'))
})

test('-p says in one line that a word names no command, and sends it; a path is no command', options, async (t) => {
  const { machine, write, run } = projectOn(t, { '.termaite/commands/look.md': 'Look.' })
  mkdirSync(join(machine.home, 'skills', 'deploy'), { recursive: true })
  writeFileSync(
    join(machine.home, 'skills', 'deploy', 'SKILL.md'),
    '---\nname: deploy\ndescription: Deploys.\n---\nDeploy it.',
  )
  write('a.txt', 'one')
  const prompts = [
    '/nosuchthing now',
    '/loook',
    '/deplyo',
    '/deploy it',
    '/undo',
    '/switch a',
    '/tmp is full',
    '/etc/hosts is wrong',
    '/a.txt is wrong',
  ]
  for (const prompt of prompts) {
    const { out, err } = await run('-p', prompt)
    assert.equal(out, heard(prompt))
    golden(t, [prompt, ...err.split('\n').filter((line) => line.startsWith('termaite: '))])
  }
})

test('a command line of a command runs only under the rules, and no argument adds another', options, async (t) => {
  const { machine, run } = projectOn(t, {
    '.termaite/commands/make.md': 'Made: !`touch made-$1`',
    '.termaite/commands/show.md': 'It says: !`echo $ARGUMENTS`',
  })
  await machine.call(['trust', '--yes'])
  const made = (name: string) => existsSync(join(machine.project, name))
  const refused = await run('-p', '/make it')
  assert.deepEqual([refused.code, refused.out, made('made-it')], [77, '', false])
  // Without a sandbox the question is about the command itself.
  if (noSandbox)
    assert.match(refused.err, /^termaite: \/make was not sent, .* bash was refused: there is no sandbox \(/m)
  else golden(t, refused.err, { [machine.folder]: '<machine>' })
  const allowed = await run('-p', '/make it', '--allow', 'bash(touch made-it)')
  assert.deepEqual([allowed.out, made('made-it')], [heard('Made: [no output]'), true], allowed.err)
  const shown = await run('-p', '/show $(touch pwned) `touch pwned` ; touch pwned !`touch pwned`', '--leash', 'all')
  assert.deepEqual(
    [
      shown.out.includes('It says:'),
      shown.out.includes('$(touch pwned) `touch pwned` ; touch pwned !`touch pwned`'),
      made('pwned'),
    ],
    [true, true, false],
    shown.err,
  )
})

test('a command’s model and tools hold for termaite’s own agent: other calls are asked about', options, async (t) => {
  const server = await modelServer(({ count }) =>
    count === 1
      ? { call: { tool: 'file_creator', input: { file_path: 'new.txt', content: 'x' } } }
      : count === 2
        ? { call: { tool: 'ls', input: {} } }
        : { text: 'done' },
  )
  t.after(() => server.close())
  const { machine } = projectOn(t, {
    '.claude/commands/look.md': '---\nallowed-tools: Read, Bash(git status:*)\nmodel: haiku\n---\nLook around.',
  })
  const agent = { kind: 'native', model: 'anthropic/claude-sonnet-5-5', baseURL: `${server.url}/v1` }
  machine.settings({
    leash: 'edit',
    metaInstruction: false,
    agents: [{ name: 'own', ...agent, contextWindowTokens: 200_000 }],
  })
  await machine.call(['trust', '--yes'])
  const env = { ANTHROPIC_API_KEY: 'made-up-key' }
  const { code, err } = await machine.call(['-p', '/look'], { env })
  assert.equal(code, 77, err)
  assert.ok(!existsSync(join(machine.project, 'new.txt')))
  const [first, second, third] = server.turns().map(({ body }) => body)
  assert.deepEqual([first.model, first.messages.at(-1).content], ['claude-haiku-5-5', 'Look around.'])
  golden(t, JSON.stringify(second.messages.at(-1)))
  assert.match(JSON.stringify(third.messages.at(-1)), /tool_result/)
  await machine.call(['-p', 'and without it'], { env })
  assert.equal(server.turns().at(-1)!.body.model, 'claude-sonnet-5-5')
})

test(
  'an editor is told of the commands in files, asked for trust and for command lines, and sees a new one at once',
  options,
  async (t) => {
    const { machine, write } = projectOn(t, {
      '.claude/commands/ship.md':
        '---\ndescription: Ships.\nargument-hint: <where>\n---\nShip to $0.\n!`touch shipped`',
    })
    const asked: string[] = []
    const editor = editorOn(t, machine.start(['acp']), ({ options, toolCall }) => {
      asked.push(String(toolCall.title))
      return {
        outcome: { outcome: 'selected', optionId: options.find(({ kind }) => kind.startsWith('allow'))!.optionId },
      }
    })
    await editor.initialize()
    const { sessionId } = await editor.begin(machine.project)
    const offered = () => {
      const lists = editor.seen.updates.flatMap((one) =>
        one.sessionUpdate === 'available_commands_update' ? [one] : [],
      )
      return lists.at(-1)?.availableCommands.find(({ name }) => name === 'ship' || name === 'late')
    }
    await until(() => offered()?.description === 'Not used until you trust this folder: .claude/commands/ship.md')
    assert.deepEqual(await editor.prompt(sessionId, '/ship home'), { stopReason: 'end_turn' })
    assert.match(editor.text(), /Ship to home\.\n\[no output\]/)
    assert.ok(existsSync(join(machine.project, 'shipped')))
    assert.equal(asked.length, 2, asked.join('\n'))
    await until(() => offered()?.description === 'Ships. (.claude/commands/ship.md)')
    rmSync(join(machine.project, '.claude'), { recursive: true })
    mkdirSync(join(machine.home, 'commands'), { recursive: true })
    writeFileSync(join(machine.home, 'commands/late.md'), 'Late $1.')
    assert.deepEqual(await editor.prompt(sessionId, '/late call'), { stopReason: 'end_turn' })
    assert.match(editor.text(), /Late call\./)
    await until(() => offered()?.description === 'Late $1. (your own)')
    write('x', '')
    assert.deepEqual(await editor.close(), { code: 0, faults: [] })
  },
)
