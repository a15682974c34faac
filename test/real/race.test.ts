import type { Answer, Asked } from './model-server.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, start } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { installed, rigAll } from './rig.ts'

const missing = ['claude', 'codex'].filter((cli) => !installed(cli))

/** How often the model of a turn has called already, by the results that it is sent. */
const called = ({ text }: Asked) => text.split(/"type":"(?:tool_result|function_call_output)"/).length - 1

const wrong = 'export const add = (a, b) => a - b\n'
const right = 'export const add = (a, b) => a + b\n'

/** The model behind each agent: Claude Code mends the sum, Codex makes it worse, and our own agent only writes about it. */
function answer(asked: Asked): Answer {
  const said = { text: 'The sum is right now.' }
  if (asked.text.includes('You judge their changes'))
    return { text: JSON.stringify({ best_first: ['A', 'B', 'C'].map((label) => ({ label, why: `It is ${label}.` })) }) }
  if (asked.wire === 'responses')
    return called(asked) === 0
      ? { call: { tool: 'exec_command', input: { cmd: "sed -i 's/a - b/a * b/' sum.js" } } }
      : said
  if (asked.text.includes('"file_creator"'))
    return called(asked) === 0
      ? { call: { tool: 'file_creator', input: { file_path: 'note.txt', content: 'The sum is wrong.\n' } } }
      : said
  const edit = { file_path: 'sum.js', old_string: 'a - b', new_string: 'a + b' }
  const steps = [{ call: { tool: 'Read', input: { file_path: 'sum.js' } } }, { call: { tool: 'Edit', input: edit } }]
  return steps[called(asked)] ?? said
}

test(
  'Claude Code, Codex and our own agent race on a broken repository; the one whose tests pass wins, and is undone afterwards',
  { skip: missing.length > 0 && `not installed: ${missing.join(', ')}`, timeout: 240_000 },
  async (t) => {
    const model = await modelServer(answer)
    const rig = await rigAll(model.url)
    t.after(async () => {
      await model.close()
      await rig[Symbol.asyncDispose]()
    })
    const home = join(rig.root, 'termaite')
    mkdirSync(home, { mode: 0o700 })
    const agents = [
      { name: 'claude', profile: 'claude', contextWindowTokens: 200_000 },
      { name: 'codex', profile: 'codex', contextWindowTokens: 272_000 },
      {
        name: 'native',
        kind: 'native',
        model: 'anthropic/claude-sonnet-4-5',
        baseURL: `${model.url}/v1`,
        contextWindowTokens: 200_000,
      },
    ]
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ metaInstruction: false, agents }))
    const write = (path: string, text: string) => writeFileSync(join(rig.cwd, path), text)
    const files = () => readdirSync(rig.cwd).filter((name) => name !== '.git')
    write('sum.js', wrong)
    write('sum.test.js', "import { add } from './sum.js'\nif (add(1, 2) !== 3) throw new Error('add is wrong')\n")
    write('package.json', JSON.stringify({ type: 'module', scripts: { test: 'node sum.test.js' } }))
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@e', ...args], { cwd: rig.cwd, env: rig.env })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'one')
    const run = (...args: string[]) =>
      ended(
        spawn(start[0], [...start.slice(1), ...args], {
          cwd: rig.cwd,
          env: { ...rig.env, TERMAITE_HOME: home },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      )
    const { code, out, err } = await run(
      'race',
      'fix the failing test',
      '-a',
      'claude,codex,native',
      '--check',
      'node sum.test.js',
      '--yes',
      '--json',
    )
    assert.equal(out === '' ? err : code, 0, err)
    const race = JSON.parse(out) as {
      winner: number
      chosen: number
      before: { passed: boolean }[]
      racers: {
        agent: string
        state: string
        files: { path: string }[]
        checks: { passed: boolean }[]
        reply: string
        tokens: number
      }[]
    }
    assert.deepEqual(
      {
        before: race.before.map(({ passed }) => passed),
        racers: race.racers.map(({ agent, state, files, checks, reply }) => [
          agent,
          state,
          files.map(({ path }) => path),
          checks.map(({ passed }) => passed),
          reply,
        ]),
        won: [race.winner, race.chosen],
      },
      {
        before: [false],
        racers: [
          ['claude', 'done', ['sum.js'], [true], 'The sum is right now.'],
          ['codex', 'done', ['sum.js'], [false], 'The sum is right now.'],
          ['native', 'done', ['note.txt'], [false], 'The sum is right now.'],
        ],
        won: [1, 1],
      },
      err,
    )
    assert.ok(
      race.racers.every(({ tokens }) => tokens > 0),
      'each row says what its agent spent',
    )
    const judged = model.turns().filter(({ text }) => text.includes('You judge their changes'))
    assert.equal(judged.length, 1)
    assert.deepEqual(
      [readFileSync(join(rig.cwd, 'sum.js'), 'utf8'), files()],
      [right, ['package.json', 'sum.js', 'sum.test.js']],
    )
    assert.equal((await run('undo', '--yes')).code, 0)
    assert.equal(readFileSync(join(rig.cwd, 'sum.js'), 'utf8'), wrong)
  },
)
